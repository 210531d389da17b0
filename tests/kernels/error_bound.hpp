// SPDX-License-Identifier: Apache-2.0
// What reproducible sums should be, and how far from the exact one they may be.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "exact_sum.hpp"
#include "summands.hpp"

namespace weft_test {

template <class T>
T largest_magnitude(const std::vector<T>& summands) {
  T largest = 0;
  for (const T each : summands) largest = std::max(largest, std::abs(each));
  return largest;
}

/// What the documentation says that the value is: each summand rounded to the unit of the lowest bin kept, the sum of
/// those rounded once.
template <class T>
T model_value(const std::vector<T>& summands) {
  const T largest = largest_magnitude(summands);
  int top = 2;  // the lowest bin that holds `largest` in the middle half of its range, but not below the third
  while (largest >= std::ldexp(T(1), std::min(width<T> * (top + 1) - 1 + lowest_exponent<T>,
                                              std::numeric_limits<T>::max_exponent - 1)) &&
         width<T> * (top + 1) - 1 + lowest_exponent<T> < std::numeric_limits<T>::max_exponent)
    ++top;
  const int unit = width<T> * (top - 2) + lowest_exponent<T>;
  exact_sum sum;
  for (const T each : summands) {
    int exponent = 0;
    const T fraction = std::frexp(each, &exponent);
    const auto digits = static_cast<std::int64_t>(std::ldexp(fraction, std::numeric_limits<T>::digits));
    exponent -= std::numeric_limits<T>::digits;
    const int drop = unit - exponent;
    if (drop <= 0)
      sum.add(digits, exponent);
    else if (drop < 60)
      sum.add(std::llrint(std::ldexp(static_cast<long double>(digits), -drop)), unit);
  }
  return sum.rounded<T>();
}

template <class T>
exact_sum exactly(const std::vector<T>& summands) {
  exact_sum sum;
  for (const T each : summands) sum.add(each);
  return sum;
}

/// |value - exact sum|
template <class T>
exact_sum error_of(T value, const exact_sum& exact) {
  exact_sum error = exact_sum::value_of(value);
  error.subtract(exact);
  return error.magnitude();
}

/// n * 2^-2W * m + 2^-(W+1) * |value|
template <class T>
exact_sum stated_bound(const std::vector<T>& summands, T value) {
  constexpr int digits = std::numeric_limits<T>::digits;
  const auto add_scaled = [](exact_sum& to, T number, int scale) {
    int exponent = 0;
    const T fraction = std::frexp(number, &exponent);
    to.add(static_cast<std::int64_t>(std::ldexp(fraction, digits)), exponent - digits + scale);
  };
  exact_sum bound;
  for (int bit = 0; bit < 32; ++bit)
    if ((summands.size() >> bit & 1) != 0) add_scaled(bound, largest_magnitude(summands), bit - 2 * width<T>);
  add_scaled(bound, std::abs(value), -digits);
  return bound;
}

}  // namespace weft_test
