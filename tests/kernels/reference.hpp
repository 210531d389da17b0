// What the operators mean, one element at a time, and inputs that tell right from nearly right.
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "weft/kernels/combine.hpp"

namespace weft_test {

using weft::kernels::operation;

inline constexpr operation tested_operations[] = {operation::sum, operation::product, operation::min, operation::max};

template <std::floating_point T>
T reference(operation combined_by, T a, T b) {
  if (combined_by == operation::sum) return a + b;
  if (combined_by == operation::product) return a * b;
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
  const bool a_first = a < b || (a == b && std::signbit(a) && !std::signbit(b));
  return (combined_by == operation::min) == a_first ? a : b;
}

template <std::integral T>
T reference(operation combined_by, T a, T b) {
  using wrapping = std::make_unsigned_t<T>;
  if (combined_by == operation::sum) return static_cast<T>(static_cast<wrapping>(a) + static_cast<wrapping>(b));
  if (combined_by == operation::product) return static_cast<T>(static_cast<wrapping>(a) * static_cast<wrapping>(b));
  return (combined_by == operation::min) == (a < b) ? a : b;
}

/// The sources folded from left to right, element by element.
template <class T>
std::vector<T> reference(operation combined_by, const std::vector<std::vector<T>>& sources, std::size_t source_count) {
  std::vector<T> result = sources[0];
  for (std::size_t k = 1; k < source_count; ++k)
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = reference(combined_by, result[i], sources[k][i]);
  return result;
}

/// For `min` and `max` of floats every fourth element is a zero, an infinity, a NaN or subnormal; for sums and products
/// none is, since which NaN comes out of them is not stated. Integers are any bits, so that sums and products wrap.
template <class T>
T random_element(operation combined_by, std::mt19937_64& random) {
  if constexpr (std::integral<T>) {
    return static_cast<T>(random());
  } else {
    using limits = std::numeric_limits<T>;
    constexpr T special[] = {T(0),
                             -T(0),
                             limits::infinity(),
                             -limits::infinity(),
                             limits::quiet_NaN(),
                             limits::max(),
                             limits::lowest(),
                             limits::denorm_min(),
                             -limits::quiet_NaN()};
    const bool ordering = combined_by == operation::min || combined_by == operation::max;
    if (ordering && random() % 4 == 0) return special[random() % std::size(special)];
    return std::uniform_real_distribution<T>(T(-2), T(2))(random);
  }
}

template <class T>
std::vector<std::vector<T>> random_sources(operation combined_by, std::size_t sources, std::size_t count,
                                           std::mt19937_64& random) {
  std::vector<std::vector<T>> result(sources, std::vector<T>(count));
  for (auto& source : result)
    for (T& element : source) element = random_element<T>(combined_by, random);
  return result;
}

}  // namespace weft_test
