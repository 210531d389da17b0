// SPDX-License-Identifier: Apache-2.0
// Kernels of which some types and operators are left out, as -Dtypes and -Doperators do: meson.build says which.
#include <array>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>

#include "catch.hpp"
#include "weft/kernels/combine.hpp"

using namespace weft::kernels;
using weft_test::ContainsSubstring;

namespace {

template <class T>
void check_two(operation combined_by, T a, T b, T expected) {
  CAPTURE(name(combined_by), name(type_of<T>));
  REQUIRE(is_built(combined_by, type_of<T>));
  std::array<T, 100> first{}, second{}, result{};
  first.fill(a);
  second.fill(b);
  const std::array<const void*, 2> sources{first.data(), second.data()};
  combine(combined_by, type_of<T>)(sources.data(), sources.size(), result.data(), result.size());
  for (const T& each : result) REQUIRE(each == expected);
}

bool is_listed(auto value, std::initializer_list<decltype(value)> list) {
  for (const auto each : list)
    if (each == value) return true;
  return false;
}

}  // namespace

TEST_CASE("what is kept combines") {
  check_two(operation::sum, 2.5F, 3.F, 5.5F);
  check_two(operation::max, 2.5, -3., 2.5);
  check_two<std::int32_t>(operation::sum, 2, 3, 5);
  check_two<std::uint16_t>(operation::bit_or, 6, 3, 7);
  check_two<weft::bfloat16>(operation::max, weft::bfloat16(2.F), weft::bfloat16(3.F), weft::bfloat16(3.F));
}

TEST_CASE("what is left out is refused by the option's name, and nothing else is") {
  for (const operation op : all_operations())
    for (const type element : all_types()) {
      CAPTURE(name(op), name(element));
      const bool has_operator = is_listed(op, {operation::sum, operation::max, operation::bit_or});
      const bool has_type = is_reproducible(element) || is_listed(element, {type::float32, type::float64, type::int32,
                                                                            type::uint16, type::bfloat16, type::byte});
      const bool built = has(op, element) && has_operator && has_type;
      CHECK(is_built(op, element) == built);
      if (built) {
        CHECK(combine(op, element) != nullptr);
        continue;
      }
      CHECK_THROWS_AS(combine(op, element), std::invalid_argument);
      if (!has(op, element))
        CHECK_THAT(refusal(op, element), ContainsSubstring("does not exist"));
      else if (!has_type)
        CHECK_THAT(refusal(op, element),
                   ContainsSubstring("without the kernels of " + std::string(name(element)) + " (-Dtypes)"));
      else
        CHECK_THAT(refusal(op, element),
                   ContainsSubstring("without the kernels of " + std::string(name(op)) + " (-Doperators)"));
    }
}
