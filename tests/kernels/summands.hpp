// SPDX-License-Identifier: Apache-2.0
// Summands for reproducible sums, and the ways to add them.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "weft/kernels/reproducible.hpp"

namespace weft_test {

using weft::reproducible;

template <class T>
constexpr int width = std::numeric_limits<T>::digits - 1;

template <class T>
constexpr int lowest_exponent = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits;

enum class kind { uniform, narrow, integers, any_exponent, cancelling, subnormal, huge, ties, with_zeros, special };
constexpr kind finite_kinds[] = {kind::uniform,   kind::narrow, kind::integers, kind::any_exponent, kind::cancelling,
                                 kind::subnormal, kind::huge,   kind::ties,     kind::with_zeros};

template <class T>
T draw(kind what, std::mt19937_64& random) {
  using limits = std::numeric_limits<T>;
  const T uniform = std::uniform_real_distribution<T>(-1, 1)(random);
  const T sign = random() % 2 == 0 ? T(1) : T(-1);
  const auto exponent = [&](int from, int to) { return from + static_cast<int>(random() % std::uint64_t(to - from)); };
  switch (what) {
    case kind::uniform:
      return uniform;
    case kind::narrow:
      return T(3) + uniform / 8;
    case kind::integers:
      return T(static_cast<int>(random() % 2001) - 1000);
    case kind::any_exponent:
      return std::ldexp(uniform, exponent(lowest_exponent<T>, limits::max_exponent));
    case kind::cancelling:
      return std::ldexp(uniform, exponent(-20, 40));
    case kind::subnormal:
      return std::ldexp(uniform, exponent(lowest_exponent<T>, lowest_exponent<T> + width<T> + 10));
    case kind::huge:
      return std::ldexp(uniform, limits::max_exponent - static_cast<int>(random() % 3));
    case kind::ties: {  // half a unit of a bin, or three halves, or just beside
      const int bin = static_cast<int>(random() % 4) + static_cast<int>(random() % 2) + 2;
      const T half = std::ldexp(sign * T(random() % 2 == 0 ? 1 : 3), lowest_exponent<T> + width<T> * bin - 1);
      return random() % 3 == 0 ? std::nextafter(half, uniform) : half;
    }
    case kind::with_zeros:
      return random() % 3 == 0 ? sign * T(0) : uniform;
    case kind::special:
      break;
  }
  const std::uint64_t one = random() % 40;
  return one == 0   ? limits::infinity()
         : one == 1 ? -limits::infinity()
         : one == 2 ? sign * limits::quiet_NaN()
                    : uniform;
}

template <class T>
std::vector<T> drawn(kind what, std::size_t count, std::mt19937_64& random) {
  std::vector<T> all(count);
  for (T& each : all) each = draw<T>(what, random);
  if (what == kind::cancelling)
    for (std::size_t i = 0; i + 1 < count; i += 2) all[i + 1] = -all[i] * (1 + std::numeric_limits<T>::epsilon());
  return all;
}
template <class T>
reproducible<T> one_by_one(const std::vector<T>& summands) {
  reproducible<T> sum;
  for (const T each : summands) sum += each;
  return sum;
}

/// The summands in parts of any length, each added as an array or one by one, merged in any order.
template <class T>
reproducible<T> in_random_parts(const std::vector<T>& summands, std::mt19937_64& random) {
  std::vector<reproducible<T>> parts(1);
  for (std::size_t at = 0; at < summands.size();) {
    const std::size_t most = std::array<std::size_t, 3>{4, 100, 20'000}[random() % 3];
    const std::size_t length = std::min(summands.size() - at, random() % most + 1);
    reproducible<T> part;
    const std::span<const T> next = std::span(summands).subspan(at, length);
    if (random() % 4 == 0)
      for (const T each : next) part += each;
    else
      part.add(next);
    if (random() % 2 == 0)
      parts.push_back(part);
    else
      parts[random() % parts.size()] += part;
    at += length;
  }
  while (parts.size() > 1) {
    std::swap(parts[random() % parts.size()], parts.back());
    const reproducible<T> last = parts.back();
    parts.pop_back();
    parts[random() % parts.size()] += last;
  }
  return parts[0];
}

}  // namespace weft_test
