// SPDX-License-Identifier: Apache-2.0
// The operators on single elements: what vectors leave over, all there is on the scalar target, and what is combined in
// one step where others may change it.
#pragma once

#include <cmath>
#include <complex>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "weft/kernels/types.hpp"

namespace weft::kernels::scalar {

template <class T>
concept half = std::same_as<T, float16> || std::same_as<T, bfloat16>;

/// What min and max give when an element is a NaN.
template <class T>
T quiet_nan() {
  if constexpr (half<T>)
    return T(std::numeric_limits<float>::quiet_NaN());
  else
    return std::numeric_limits<T>::quiet_NaN();
}

struct sum {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (std::integral<T>)
      return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    else if constexpr (half<T>)
      return T(static_cast<float>(a) + static_cast<float>(b));
    else
      return a + b;
  }
};

struct product {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (std::integral<T>)
      return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
    else if constexpr (half<T>)
      return T(static_cast<float>(a) * static_cast<float>(b));
    else
      return a * b;
  }
  template <class T>
  static std::complex<T> apply(std::complex<T> a, std::complex<T> b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  }
};

/// Below 0 where a comes before b in the order of `min`, above 0 where b does, 0 where they are equal: numbers by size,
/// -0 before +0. Neither is a NaN.
template <class T>
int compare(T a, T b) {
  if constexpr (half<T>)
    return compare(static_cast<float>(a), static_cast<float>(b));
  else if constexpr (std::floating_point<T>) {
    if (a == b) return static_cast<int>(std::signbit(b)) - static_cast<int>(std::signbit(a));
    return a < b ? -1 : 1;
  } else {
    return static_cast<int>(b < a) - static_cast<int>(a < b);
  }
}

template <class T>
bool is_nan(T value) {
  if constexpr (half<T>)
    return std::isnan(static_cast<float>(value));
  else if constexpr (std::floating_point<T>)
    return std::isnan(value);
  else
    return false;
}

/// min (`sign` 1) and max (`sign` -1).
template <int sign>
struct extreme {
  template <class T>
  static T apply(T a, T b) {
    if (is_nan(a) || is_nan(b)) return quiet_nan<T>();
    return sign * compare(a, b) <= 0 ? a : b;
  }
};

/// min_location (`sign` 1) and max_location (`sign` -1).
template <int sign>
struct extreme_location {
  template <class T>
  static located<T> apply(located<T> a, located<T> b) {
    const bool nan_a = is_nan(a.value), nan_b = is_nan(b.value);
    if (nan_a) a.value = quiet_nan<T>();
    if (nan_b) b.value = quiet_nan<T>();
    if (nan_a != nan_b) return nan_a ? a : b;
    const int order = nan_a ? 0 : sign * compare(a.value, b.value);
    return order < 0 || (order == 0 && a.index <= b.index) ? a : b;
  }
};

struct bit_and {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct bit_or {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct bit_xor {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};

struct logical_and {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a != 0 && b != 0);
  }
};
struct logical_or {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a != 0 || b != 0);
  }
};
struct logical_xor {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>((a != 0) != (b != 0));
  }
};

/// a o b, for an operator that elements of type T have.
template <operation O, class T>
T combine(T a, T b) {
  if constexpr (O == operation::sum) return sum::apply(a, b);
  if constexpr (O == operation::product) return product::apply(a, b);
  if constexpr (O == operation::min) return extreme<1>::apply(a, b);
  if constexpr (O == operation::max) return extreme<-1>::apply(a, b);
  if constexpr (O == operation::bit_and) return bit_and::apply(a, b);
  if constexpr (O == operation::bit_or) return bit_or::apply(a, b);
  if constexpr (O == operation::bit_xor) return bit_xor::apply(a, b);
  if constexpr (O == operation::logical_and) return logical_and::apply(a, b);
  if constexpr (O == operation::logical_or) return logical_or::apply(a, b);
  if constexpr (O == operation::logical_xor) return logical_xor::apply(a, b);
  if constexpr (O == operation::min_location) return extreme_location<1>::apply(a, b);
  if constexpr (O == operation::max_location) return extreme_location<-1>::apply(a, b);
}

}  // namespace weft::kernels::scalar
