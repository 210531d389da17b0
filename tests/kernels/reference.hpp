// SPDX-License-Identifier: Apache-2.0
// What the operators mean, one element at a time, and inputs that tell right from nearly right.
#pragma once

#include <cmath>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <random>
#include <type_traits>
#include <valarray>
#include <vector>

#include "weft/kernels/combine.hpp"

namespace weft_test {

using weft::kernels::operation;

template <class T>
inline constexpr bool is_half = std::same_as<T, weft::float16> || std::same_as<T, weft::bfloat16>;
template <class T>
inline constexpr bool is_complex = std::same_as<T, std::complex<float>> || std::same_as<T, std::complex<double>>;
template <class T>
inline constexpr bool is_located = requires(T pair) {
  pair.index;
};

/// The bits of an element, to compare and to break.
template <class T>
bool same_bits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

/// Whether the first `count` values stand there, bit by bit.
template <class T>
bool holds(const void* place, const std::valarray<T>& values, std::size_t count) {
  return std::memcmp(place, std::begin(values), count * sizeof(T)) == 0;
}

template <std::floating_point T>
T reference(operation combined_by, T a, T b) {
  if (combined_by == operation::sum) return a + b;
  if (combined_by == operation::product) return a * b;
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
  const bool a_first = a < b || (a == b && std::signbit(a) && !std::signbit(b));
  return (combined_by == operation::min) == a_first ? a : b;
}

/// In float, rounded as the types' own conversions round.
template <class T>
requires is_half<T> T reference(operation combined_by, T a, T b) {
  return T(reference(combined_by, static_cast<float>(a), static_cast<float>(b)));
}

template <std::floating_point T>
std::complex<T> reference(operation combined_by, std::complex<T> a, std::complex<T> b) {
  if (combined_by == operation::sum) return {a.real() + b.real(), a.imag() + b.imag()};
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

template <std::integral T>
T reference(operation combined_by, T a, T b) {
  const auto wide_a = static_cast<std::uint64_t>(a), wide_b = static_cast<std::uint64_t>(b);
  switch (combined_by) {
    case operation::sum:
      return static_cast<T>(wide_a + wide_b);
    case operation::product:
      return static_cast<T>(wide_a * wide_b);
    case operation::min:
      return b < a ? b : a;
    case operation::max:
      return a < b ? b : a;
    case operation::bit_and:
      return static_cast<T>(wide_a & wide_b);
    case operation::bit_or:
      return static_cast<T>(wide_a | wide_b);
    case operation::bit_xor:
      return static_cast<T>(wide_a ^ wide_b);
    case operation::logical_and:
      return static_cast<T>(a && b);
    case operation::logical_or:
      return static_cast<T>(a || b);
    default:
      return static_cast<T>(!a != !b);
  }
}

inline std::byte reference(operation combined_by, std::byte a, std::byte b) {
  return std::byte(reference(combined_by, std::to_integer<unsigned>(a), std::to_integer<unsigned>(b)));
}

template <class T>
weft::located<T> reference(operation combined_by, weft::located<T> a, weft::located<T> b) {
  const operation of_values = combined_by == operation::min_location ? operation::min : operation::max;
  const T best = reference(of_values, a.value, b.value);
  // Which of the two have the best value: by itself it stays as it is.
  const bool has_a = same_bits(reference(of_values, a.value, a.value), best);
  const bool has_b = same_bits(reference(of_values, b.value, b.value), best);
  const auto index = has_a && has_b ? std::min(a.index, b.index) : has_a ? a.index : b.index;
  return {best, index};
}

/// Elements first to first + count - 1 of every source at place i, combined in the order of the tree.
template <class T>
T reference_tree(operation combined_by, const std::vector<std::valarray<T>>& sources, std::size_t first,
                 std::size_t count, std::size_t i) {
  if (count == 1) return sources[first][i];
  std::size_t left = 1;
  while (2 * left < count) left *= 2;
  return reference(combined_by, reference_tree(combined_by, sources, first, left, i),
                   reference_tree(combined_by, sources, first + left, count - left, i));
}

template <class T>
std::valarray<T> reference(operation combined_by, const std::vector<std::valarray<T>>& sources,
                           std::size_t source_count) {
  std::valarray<T> result(sources[0].size());
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = reference_tree(combined_by, sources, 0, source_count, i);
  return result;
}

/// Zeros of both signs, infinities, NaNs, subnormals and the like, as far as the result is stated: what a sum or
/// product of floats that is a NaN looks like is not.
template <std::floating_point T>
T special_element(operation combined_by, std::mt19937_64& random) {
  using limits = std::numeric_limits<T>;
  const T for_all[] = {T(0), -T(0), limits::denorm_min(), -limits::denorm_min(), limits::min(), -limits::min() / 2};
  const T for_sums[] = {limits::infinity(), limits::max(), limits::denorm_min(), limits::max() / 2};
  const T for_order[] = {limits::infinity(), -limits::infinity(), limits::quiet_NaN(),    -limits::quiet_NaN(),
                         limits::max(),      limits::lowest(),    limits::signaling_NaN()};
  const auto one_of = [&](const auto& values) { return values[random() % std::size(values)]; };
  if (random() % 2 == 0) return one_of(for_all);
  if (combined_by == operation::sum) return one_of(for_sums);
  return combined_by == operation::product ? one_of(for_all) : one_of(for_order);
}

/// Integers and halves are any bits, so that they wrap and overflow; every fourth float is a special one.
template <class T>
T random_element(operation combined_by, std::mt19937_64& random) {
  const bool special = random() % 4 == 0;
  if constexpr (std::same_as<T, bool>) {
    return random() % 2 == 0;
  } else if constexpr (std::same_as<T, std::byte>) {
    return std::byte(random());
  } else if constexpr (std::integral<T>) {
    return static_cast<T>(special ? 0 : random());
  } else if constexpr (is_half<T>) {
    if (special) return T::from_bits(static_cast<std::uint16_t>(random()));
    return T(random_element<float>(operation::min, random));
  } else if constexpr (is_complex<T>) {
    // No special ones: the parts of a product would be NaNs.
    std::uniform_real_distribution<typename T::value_type> any(-2, 2);
    return {any(random), any(random)};
  } else if constexpr (is_located<T>) {
    using value = decltype(T::value);
    const auto few = static_cast<value>(random() % 5) - 2;  // many ties
    const auto index = static_cast<typename T::index_type>(special ? random() : random() % 7);
    return {random() % 4 == 0 ? random_element<value>(operation::min, random) : few, index};
  } else {
    return special ? special_element<T>(combined_by, random) : std::uniform_real_distribution<T>(T(-2), T(2))(random);
  }
}

/// Arrays of each source. (A valarray, unlike a vector, holds bools as they are.)
template <class T>
std::vector<std::valarray<T>> random_sources(operation combined_by, std::size_t sources, std::size_t count,
                                             std::mt19937_64& random) {
  std::vector<std::valarray<T>> result(sources, std::valarray<T>(count));
  for (auto& source : result)
    for (T& element : source) element = random_element<T>(combined_by, random);
  return result;
}

}  // namespace weft_test
