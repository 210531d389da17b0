// SPDX-License-Identifier: Apache-2.0
// Sums without any rounding: a fixed-point number of 2560 bits, slow and plain.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace weft_test {

class exact_sum {
 public:
  /// Adds `number` * 2^exponent. The bit of weight 2^-1400 is the last one, 2^1150 the sign.
  void add(std::int64_t number, int exponent) {
    const auto place = static_cast<std::size_t>(exponent + last_place);
    const std::uint64_t magnitude =
        number < 0 ? -static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number);
    const std::uint64_t low = magnitude << (place % 32);
    const std::uint64_t high = place % 32 == 0 ? 0 : magnitude >> (64 - place % 32);
    const auto digits = {low & 0xffff'ffff, low >> 32, high};
    std::size_t at = place / 32;
    for (const std::uint64_t each : digits)
      digits_[at++] += number < 0 ? -static_cast<std::int64_t>(each) : static_cast<std::int64_t>(each);
    if (++added_ % (1 << 20) == 0) carry();
  }

  /// Adds a finite number.
  template <class T>
  void add(T value) {
    int exponent = 0;
    const auto fraction = std::frexp(value, &exponent);
    add(static_cast<std::int64_t>(std::ldexp(fraction, std::numeric_limits<T>::digits)),
        exponent - std::numeric_limits<T>::digits);
  }

  void subtract(const exact_sum& other) {
    carry();
    exact_sum normal = other;
    normal.carry();
    for (std::size_t i = 0; i < digits_.size(); ++i) digits_[i] -= normal.digits_[i];
    carry();
  }
  void add(const exact_sum& other) {
    exact_sum minus;
    minus.subtract(other);
    subtract(minus);
  }

  bool negative() {
    carry();
    return digits_.back() < 0;
  }
  exact_sum magnitude() {
    if (!negative()) return *this;
    exact_sum result;
    result.subtract(*this);
    return result;
  }
  bool less_or_equal(const exact_sum& other) const {
    exact_sum difference = other;
    difference.subtract(*this);
    return !difference.negative();
  }

  /// To nearest, ties to even; by trial: the result is the number of T whose neighbours' midpoints enclose this.
  template <class T>
  T rounded() {
    if (negative()) return -magnitude().rounded<T>();
    T below = 0, above = std::numeric_limits<T>::infinity();  // below <= this, by bisection of the ordered patterns
    for (;;) {
      const T middle = between(below, above);
      if (middle == below || middle == above) break;
      (value_of(middle).less_or_equal(*this) ? below : above) = middle;
    }
    exact_sum twice = *this;
    twice.add(*this);
    exact_sum sum_of_both = value_of(below);
    sum_of_both.add(above_value(below));
    const bool at_most = twice.less_or_equal(sum_of_both), at_least = sum_of_both.less_or_equal(twice);
    if (at_most && at_least) return is_even(below) ? below : above;
    return at_most ? below : above;
  }

  template <class T>
  static exact_sum value_of(T value) {
    exact_sum result;
    result.add(value);
    return result;
  }

 private:
  template <class T>
  using pattern = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

  template <class T>
  static T between(T a, T b) {
    const auto low = std::bit_cast<pattern<T>>(a), high = std::bit_cast<pattern<T>>(b);
    return std::bit_cast<T>(static_cast<pattern<T>>(low + (high - low) / 2));
  }
  template <class T>
  static bool is_even(T value) {
    return (std::bit_cast<pattern<T>>(value) & 1) == 0;
  }
  /// The next number; the power of two after the largest one.
  template <class T>
  static exact_sum above_value(T value) {
    if (value < std::numeric_limits<T>::max())
      return value_of(std::nextafter(value, std::numeric_limits<T>::infinity()));
    exact_sum result;
    result.add(1, std::numeric_limits<T>::max_exponent);
    return result;
  }
  void carry() {
    for (std::size_t i = 0; i + 1 < digits_.size(); ++i) {
      const std::int64_t over = digits_[i] >> 32;
      digits_[i] -= over * (std::int64_t{1} << 32);
      digits_[i + 1] += over;
    }
  }

  static constexpr int last_place = 1400;
  std::array<std::int64_t, 80> digits_{};
  std::uint64_t added_ = 0;
};

}  // namespace weft_test
