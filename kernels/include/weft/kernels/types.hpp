// SPDX-License-Identifier: Apache-2.0
// What reductions combine, and by which operators: the element types, the operators, and which go together.
#pragma once

#include <weft/api.h>

#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <weft/kernels/half.hpp>
#include <weft/kernels/located.hpp>
#include <weft/kernels/reproducible.hpp>

#if defined(__STDCPP_BFLOAT16_T__)
#include <stdfloat>
#endif

namespace weft::kernels {

/// What two elements become. All are commutative to the bit but for the payload of a NaN; those on integers and bits,
/// `min`, `max` and the location operators are associative to the bit as well.
/// - `sum`, `product`: integers wrap around modulo a power of two. Floats round after every operation, to nearest even
///   unless the caller's rounding mode differs; which of several NaNs comes out is the machine's choice. float16 and
///   bfloat16 are combined in float and rounded once a combination, to nearest even whatever the rounding mode.
///   Complex numbers multiply as (ac - bd) + (ad + bc)i, four products and two sums that each round, and no recovery
///   of infinities.
/// - `min`, `max`: if either element is a NaN, the result is the type's quiet NaN without sign or payload
///   (`std::numeric_limits<T>::quiet_NaN()`). -0 is less than +0. (IEEE 754-2019, 9.6, minimum and maximum.)
/// - `bit_and`, `bit_or`, `bit_xor`: bit by bit.
/// - `logical_and`, `logical_or`, `logical_xor`: an element that is not 0 is true; the result is 0 or 1.
/// - `min_location`, `max_location`: on {value, index} pairs, the pair whose value is the `min` or `max`, and of pairs
///   with this value the one of the lowest index. NaNs and zeros are ordered as `min` and `max` order them: any NaN
///   wins, comes out as the quiet NaN, and has the lowest index of a NaN.
enum class operation : std::uint8_t {
  sum,
  product,
  min,
  max,
  bit_and,
  bit_or,
  bit_xor,
  logical_and,
  logical_or,
  logical_xor,
  min_location,
  max_location,
};

/// What the elements are: two's complement integers, IEEE 754 binary floats, bfloat16, complex numbers as {real,
/// imaginary}, located values as {value, index}, C++'s bool (0 or 1), std::byte, and accumulators of reproducible sums.
enum class type : std::uint8_t {
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float16,
  bfloat16,
  float32,
  float64,
  complex_float32,
  complex_float64,
  located_float32,
  located_float64,
  located_int32,
  located_int64,
  boolean,
  byte,
  reproducible_float32,
  reproducible_float64,
};

/// All of them, in the order of their numbers.
WEFT_API std::span<const operation> all_operations() noexcept;
WEFT_API std::span<const type> all_types() noexcept;

/// Bytes of one element.
WEFT_API std::size_t size_of(type element) noexcept;

/// "sum", "product", "min", "max", "bit_and", ..., "max_location".
WEFT_API std::string_view name(operation combined_by) noexcept;
/// "int8", ..., "uint64", "float16", "bfloat16", "float", "double", "complex_float", "complex_double",
/// "located_float", "located_double", "located_int32", "located_int64", "bool", "byte", "reproducible_float",
/// "reproducible_double".
WEFT_API std::string_view name(type element) noexcept;

/// The inverse of `name`; nothing for any other text.
WEFT_API std::optional<operation> find_operation(std::string_view text) noexcept;
/// The inverse of `name`; nothing for any other text.
WEFT_API std::optional<type> find_type(std::string_view text) noexcept;

constexpr bool is_integer(type element) noexcept { return element <= type::uint64; }
constexpr bool is_float(type element) noexcept { return element >= type::float16 && element <= type::float64; }
constexpr bool is_complex(type element) noexcept {
  return element == type::complex_float32 || element == type::complex_float64;
}
constexpr bool is_located(type element) noexcept {
  return element >= type::located_float32 && element <= type::located_int64;
}
constexpr bool is_reproducible(type element) noexcept {
  return element == type::reproducible_float32 || element == type::reproducible_float64;
}

/// Whether the operator exists on the type.
constexpr bool has(operation combined_by, type element) noexcept {
  switch (combined_by) {
    case operation::sum:
      if (is_reproducible(element)) return true;
      [[fallthrough]];
    case operation::product:
      return is_integer(element) || is_float(element) || is_complex(element);
    case operation::min:
    case operation::max:
      return is_integer(element) || is_float(element);
    case operation::bit_and:
    case operation::bit_or:
    case operation::bit_xor:
      return is_integer(element) || element == type::byte;
    case operation::logical_and:
    case operation::logical_or:
    case operation::logical_xor:
      return is_integer(element) || element == type::boolean;
    case operation::min_location:
    case operation::max_location:
      return is_located(element);
  }
  return false;
}

/// Why there is no such pair, and which there are: "min does not exist on complex_float: complex_float has sum,
/// product; min takes int8, ...". For pairs that `has` denies, and for those whose kernels are not built (combine.hpp).
WEFT_API std::string refusal(operation combined_by, type element);

namespace detail {

template <class T>
constexpr std::optional<type> find_type_of() noexcept {
  if constexpr (std::same_as<T, bool>) return type::boolean;
  if constexpr (std::same_as<T, std::byte>) return type::byte;
  // What a char is, a number or text, and whether it has a sign, depends on the machine: int8, uint8 and byte do not.
  constexpr bool is_text = std::same_as<T, char> || std::same_as<T, wchar_t> || std::same_as<T, char8_t> ||
                           std::same_as<T, char16_t> || std::same_as<T, char32_t>;
  if constexpr (std::integral<T> && !is_text && std::same_as<T, std::remove_cv_t<T>>) {
    constexpr type first = std::is_signed_v<T> ? type::int8 : type::uint8;
    constexpr int width = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : sizeof(T) == 8 ? 3 : -1;
    if constexpr (width >= 0) return static_cast<type>(static_cast<int>(first) + width);
  }
  if constexpr (std::same_as<T, float16>) return type::float16;
#if WEFT_HAS_FLOAT16
  if constexpr (std::same_as<T, _Float16>) return type::float16;
#endif
  if constexpr (std::same_as<T, bfloat16>) return type::bfloat16;
#if defined(__STDCPP_BFLOAT16_T__)
  if constexpr (std::same_as<T, std::bfloat16_t>) return type::bfloat16;
#endif
  if constexpr (std::same_as<T, float>) return type::float32;
  if constexpr (std::same_as<T, double>) return type::float64;
  if constexpr (std::same_as<T, std::complex<float>>) return type::complex_float32;
  if constexpr (std::same_as<T, std::complex<double>>) return type::complex_float64;
  if constexpr (std::same_as<T, located<float>>) return type::located_float32;
  if constexpr (std::same_as<T, located<double>>) return type::located_float64;
  if constexpr (std::same_as<T, located<std::int32_t>>) return type::located_int32;
  if constexpr (std::same_as<T, located<std::int64_t>>) return type::located_int64;
  if constexpr (std::same_as<T, reproducible<float>>) return type::reproducible_float32;
  if constexpr (std::same_as<T, reproducible<double>>) return type::reproducible_float64;
  return std::nullopt;
}

}  // namespace detail

/// C++ types that have a `type`: the integers of 8 to 64 bits whatever their name (char and its kin are text and no
/// numbers), bool, std::byte, float16 and bfloat16 (weft's, and the compiler's where it has them), float, double,
/// std::complex of float and double, weft::located, weft::reproducible.
template <class T>
concept combinable = detail::find_type_of<T>()
.has_value();

/// The `type` that stands for the C++ type T: for integers, the one of T's size and sign.
template <combinable T>
inline constexpr type type_of = *detail::find_type_of<T>();

}  // namespace weft::kernels
