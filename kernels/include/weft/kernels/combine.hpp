// Reductions on raw arrays: one operator, one element type, 1 to 16 sources, the best instruction set of this machine.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace weft::kernels {

/// What two elements become. Every operator is commutative; integer ones, `min` and `max` are associative to the bit.
/// - `sum`, `product`: integers wrap around modulo 2^32 or 2^64. Floats round after every operation, to nearest even
///   unless the caller's rounding mode differs; which of several NaNs comes out is the machine's choice.
/// - `min`, `max`: if either element is a NaN, the result is the type's quiet NaN without sign or payload
///   (`std::numeric_limits<T>::quiet_NaN()`). -0 is less than +0. (IEEE 754-2019, 9.6, minimum and maximum.)
enum class operation : std::uint8_t { sum, product, min, max };

/// What the elements are; signed two's complement integers, IEEE 754 binary floats.
enum class type : std::uint8_t { float32, float64, int32, int64 };

/// Bytes of one element.
std::size_t size_of(type element) noexcept;

/// "sum", "product", "min", "max".
std::string_view name(operation combined_by) noexcept;
/// "float", "double", "int32", "int64".
std::string_view name(type element) noexcept;

/// The inverse of `name`; nothing for any other text.
std::optional<operation> find_operation(std::string_view text) noexcept;
/// The inverse of `name`; nothing for any other text.
std::optional<type> find_type(std::string_view text) noexcept;

/// Element types that can be reduced: float, double and the signed integers of 32 and 64 bits.
template <class T>
concept combinable = std::same_as<T, float> || std::same_as<T, double> ||
    ((std::same_as<T, int> || std::same_as<T, long> || std::same_as<T, long long>)&&(sizeof(T) == 4 || sizeof(T) == 8));

/// The `type` that stands for the C++ type T: for integers, the one of T's size.
template <combinable T>
inline constexpr type type_of = std::floating_point<T> ? (sizeof(T) == 4 ? type::float32 : type::float64)
                                                       : (sizeof(T) == 4 ? type::int32 : type::int64);

/// target[i] = (((sources[0][i] o sources[1][i]) o sources[2][i]) o ...) for every i in [0, count): from left to right,
/// so that the result has the same bits on every instruction set (but for the payload of a NaN that is a sum or a
/// product). Takes one pass over memory however many sources there are. One source is copied as it is, NaNs included.
///
/// `source_count` is 1 to 16; `count` is in elements and may be 0. The sources may be the same array several times and
/// `target` may be exactly one of them; otherwise it overlaps none. Any alignment, even of bytes. Not one byte beyond
/// either end of any array is read or written. Neither blocks nor allocates nor throws; may be called by any thread.
using combine_function = void (*)(const void* const* sources, std::size_t source_count, void* target,
                                  std::size_t count);

/// The function for `combined_by` on `element`, for the best instruction set of this machine: the look-up is done here,
/// once a plan, and not in the function. Any thread.
combine_function combine(operation combined_by, type element) noexcept;

/// The name of the instruction set that `combine` chooses, as Highway spells it: "AVX3", "NEON", "SCALAR", ...
std::string_view instruction_set() noexcept;

}  // namespace weft::kernels
