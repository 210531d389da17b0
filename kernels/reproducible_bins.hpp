// SPDX-License-Identifier: Apache-2.0
// Where the bins of reproducible sums lie, and what accumulators do with them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "weft/kernels/reproducible.hpp"

namespace weft::kernels {

__extension__ using int128 = __int128;

/// The numbers of type T, and the bins that they are cut into. Bin j has the unit 2^(width j + lowest).
//
//     bin 2            bin 1            bin 0
//  |<- width ->|    |<- width ->|    |<- width ->|
//                                                ^ 2^lowest, the smallest subnormal number
template <class T>
struct bin_format {
  using limits = std::numeric_limits<T>;
  using bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

  static constexpr int width = limits::digits - 1;
  static constexpr int lowest = limits::min_exponent - limits::digits;
  static constexpr int bins = reproducible<T>::bins;
  static constexpr int special_exponent = 2 * limits::max_exponent - 1;  ///< in the exponent field of NaN and infinity

  static int exponent_field(T value) {
    return static_cast<int>(std::bit_cast<bits>(value) >> width) & special_exponent;
  }
  /// `value` is a multiple of 2^(position + lowest): the place of its last bit.
  static int position(T value) { return std::max(exponent_field(value), 1) - 1; }

  /// The highest bin in which a finite number of that magnitude, or a smaller one, has a slice that is not zero; at
  /// least the highest of the lowest `bins`. Its numbers are less than 2^(width - 1) units.
  static int top(T magnitude) { return std::max((position(magnitude) + width + 1) / width, bins - 1); }
  /// The lowest bin in which a finite number of that magnitude, or a larger one, has a slice that is not zero.
  static int bottom(T magnitude) { return position(magnitude) / width; }

  /// The highest bin whose `magic` is finite after its largest numbers were added, which round up to its next power
  /// of 2.
  static constexpr int highest_magic = (limits::max_exponent - 2 - width - lowest) / width;
  /// Numbers as large as those of bin j, added to this, are rounded to the unit of that bin, and the bits of the sum
  /// less the bits of this are the slice.
  static T magic(int j) {
    const auto exponent = static_cast<bits>(width * j + lowest + width + limits::max_exponent - 1);
    return std::bit_cast<T>(exponent << width | bits{1} << (width - 1));
  }
};

/// Reaches into accumulators.
struct binned_access {
  template <class T>
  static int top(const reproducible<T>& of) {
    return static_cast<int>(of.top_);
  }
  template <class T>
  static int128 sum(const reproducible<T>& of, int place) {
    const auto k = static_cast<std::size_t>(place);
    return static_cast<int128>(of.high_[k]) * (static_cast<int128>(1) << 64) + of.low_[k];
  }
  template <class T>
  static void set_sum(reproducible<T>& of, int place, int128 value) {
    const auto k = static_cast<std::size_t>(place);
    of.low_[k] = static_cast<std::uint64_t>(value);
    of.high_[k] = static_cast<typename reproducible<T>::high_word>(value >> 64);
  }
  /// Adds to the sum of bin `top - place`.
  template <class T>
  static void add(reproducible<T>& to, int place, int128 slices) {
    set_sum(to, place, sum(to, place) + slices);
  }

  /// Makes bin `top` the highest, unless a higher one is: the lowest are dropped.
  template <class T>
  static void raise(reproducible<T>& to, int top) {
    const int by = top - binned_access::top(to);
    if (by <= 0) return;
    for (int place = reproducible<T>::bins - 1; place >= 0; --place)
      set_sum(to, place, place >= by ? sum(to, place - by) : 0);
    to.top_ = static_cast<typename reproducible<T>::small_word>(top);
  }

  template <class T>
  static unsigned special(const reproducible<T>& of) {
    return of.special_;
  }
  template <class T>
  static void note_special(reproducible<T>& to, unsigned which) {
    to.special_ = static_cast<typename reproducible<T>::small_word>(to.special_ | which);
  }
};

inline constexpr unsigned nan_met = 1;
inline constexpr unsigned infinity_met = 2;
inline constexpr unsigned negative_infinity_met = 4;

}  // namespace weft::kernels
