// SPDX-License-Identifier: Apache-2.0
// Where the arrays of a call lie: each between guard pages, at one end of them or anywhere.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "guarded_array.hpp"

namespace weft_test {

inline constexpr std::size_t most_sources = 16;
inline constexpr std::size_t block = 4096;  // bytes that the kernels take at a time where one pass is not enough
inline constexpr std::size_t margin = 64;   // bytes looked at on either side of the target
inline constexpr std::byte poison{0xa5};

/// Where in its guarded array each vector lies: against the guard page below or above, or at any byte.
enum class placement { at_start, at_end, anywhere };

/// Sixteen sources and a target, each between guard pages.
class arena {
 public:
  arena() {
    for (auto& array : arrays_) array = std::make_unique<guarded_array>(3 * block + 2 * margin);
  }

  /// The place for vector `index` of `bytes` bytes.
  std::byte* place(std::size_t index, std::size_t bytes, placement where, std::mt19937_64& random) const {
    const guarded_array& array = *arrays_[index];
    if (where == placement::at_start) return array.begin();
    if (where == placement::at_end) return array.end() - bytes;
    return array.begin() + random() % margin;
  }

  /// The bytes beside the target, as far as there are any, together with those of the target.
  void poison_around(std::byte* target, std::size_t bytes) const {
    std::fill(low(target), high(target, bytes), poison);
  }
  bool untouched_around(const std::byte* target, std::size_t bytes) const {
    static const std::vector<std::byte> untouched(margin, poison);
    const std::byte* const end = target + bytes;
    return std::memcmp(low(target), untouched.data(), target - low(target)) == 0 &&
           std::memcmp(end, untouched.data(), high(target, bytes) - end) == 0;
  }

  static constexpr std::size_t target = most_sources;

 private:
  template <class Pointer>
  Pointer low(Pointer at) const {
    return at - std::min<std::size_t>(margin, at - arrays_[target]->begin());
  }
  template <class Pointer>
  Pointer high(Pointer at, std::size_t bytes) const {
    return at + bytes + std::min<std::size_t>(margin, arrays_[target]->end() - (at + bytes));
  }

  std::array<std::unique_ptr<guarded_array>, most_sources + 1> arrays_;
};

}  // namespace weft_test
