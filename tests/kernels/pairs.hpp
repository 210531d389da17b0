// SPDX-License-Identifier: Apache-2.0
// Two numbers, combined at every place of arrays that take every path.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <valarray>

#include "catch.hpp"
#include "reference.hpp"
#include "weft/kernels/combine.hpp"

namespace weft_test {

/// What a kernel makes of two numbers at place `at` among `count` pairs of ones.
template <class T>
T combine_at(operation op, T a, T b, std::size_t at, std::size_t count) {
  std::vector<T> left(count, T(1)), right(count, T(1)), result(count, T(7));
  left[at] = a;
  right[at] = b;
  const std::array<const void*, 2> sources{left.data(), right.data()};
  combine(op, weft::kernels::type_of<T>)(sources.data(), 2, result.data(), count);
  return result[at];
}

/// `body(at, count)` for every place in vectors that take every path: one element, a partial vector, the loops.
template <class Body>
void at_every_place(Body body) {
  for (const std::size_t count : {1, 3, 6, 15, 40, 85})
    for (std::size_t at = 0; at < count; ++at) body(at, count);
}
/// Two elements, in both orders, at every place: must become `expected`.
template <class T>
void check_both_orders(operation op, T a, T b, T expected) {
  at_every_place([&](std::size_t at, std::size_t count) {
    for (const auto& [left, right] : {std::pair{a, b}, std::pair{b, a}}) {
      std::valarray<T> lefts(left, count), rights(right, count), result(count);
      const std::array<const void*, 2> sources{std::begin(lefts), std::begin(rights)};
      combine(op, weft::kernels::type_of<T>)(sources.data(), 2, std::begin(result), count);
      if (!same_bits(result[at], expected)) FAIL(name(op) << " at " << at << " of " << count);
    }
  });
}

}  // namespace weft_test
