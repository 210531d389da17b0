// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "kept.hpp"
#include "weft/kernels/types.hpp"

namespace weft::kernels {
namespace {

constexpr std::array<std::string_view, 12> operation_names{"sum",        "product",     "min",          "max",
                                                           "bit_and",    "bit_or",      "bit_xor",      "logical_and",
                                                           "logical_or", "logical_xor", "min_location", "max_location"};

struct element_type {
  std::string_view name;
  std::size_t bytes;
};
constexpr std::array<element_type, 22> element_types{{
    {"int8", 1},
    {"int16", 2},
    {"int32", 4},
    {"int64", 8},
    {"uint8", 1},
    {"uint16", 2},
    {"uint32", 4},
    {"uint64", 8},
    {"float16", 2},
    {"bfloat16", 2},
    {"float", 4},
    {"double", 8},
    {"complex_float", 8},
    {"complex_double", 16},
    {"located_float", 8},
    {"located_double", 16},
    {"located_int32", 8},
    {"located_int64", 16},
    {"bool", 1},
    {"byte", 1},
    {"reproducible_float", 40},
    {"reproducible_double", 56},
}};

/// The first values of an enumeration.
template <class E, std::size_t N>
constexpr std::array<E, N> first_values() {
  std::array<E, N> all{};
  for (std::size_t i = 0; i < N; ++i) all[i] = static_cast<E>(i);
  return all;
}
constexpr auto operations = first_values<operation, operation_names.size()>();
constexpr auto types = first_values<type, element_types.size()>();

/// The one among `values` that is called `text`.
template <class Values>
auto find(const Values& values, std::string_view text) -> std::optional<typename Values::value_type> {
  const auto found = std::find_if(values.begin(), values.end(), [&](auto value) { return name(value) == text; });
  if (found == values.end()) return std::nullopt;
  return *found;
}

/// The names of those among `values` that are `wanted`: "a, b, c".
template <class Values, class Predicate>
std::string list(const Values& values, Predicate wanted) {
  std::string text;
  for (const auto value : values) {
    if (!wanted(value)) continue;
    if (!text.empty()) text += ", ";
    text += name(value);
  }
  return text;
}

}  // namespace

std::span<const operation> all_operations() noexcept { return operations; }
std::span<const type> all_types() noexcept { return types; }

std::size_t size_of(type element) noexcept { return element_types[static_cast<std::size_t>(element)].bytes; }

std::string_view name(operation combined_by) noexcept { return operation_names[static_cast<std::size_t>(combined_by)]; }
std::string_view name(type element) noexcept { return element_types[static_cast<std::size_t>(element)].name; }

std::optional<operation> find_operation(std::string_view text) noexcept { return find(operations, text); }
std::optional<type> find_type(std::string_view text) noexcept { return find(types, text); }

std::string refusal(operation combined_by, type element) {
  const std::string op(name(combined_by)), on(name(element));
  if (has(combined_by, element))
    return "this weft was built without the kernels of " +
           (is_kept(element) ? op + " (-Doperators)" : on + " (-Dtypes)");
  return op + " does not exist on " + on + ": " + on + " has " +
         list(operations, [&](operation each) { return has(each, element); }) + "; " + op + " takes " +
         list(types, [&](type each) { return has(combined_by, each); });
}

}  // namespace weft::kernels
