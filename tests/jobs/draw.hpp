// SPDX-License-Identifier: Apache-2.0
// Numbers that look random and depend on nothing but what they are drawn from, so that all ranks draw the same.
#pragma once

#include <cstdint>

namespace weft_test {

/// The finalizer of SplitMix64 (Steele, Lea and Flood, 2014).
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// The `which`-th number from 0 to below `bound` that belongs to `seed`.
constexpr std::uint64_t draw(std::uint64_t seed, std::uint64_t which, std::uint64_t bound) {
  return mix(mix(seed) ^ mix(which * 2 + 1)) % bound;
}

}  // namespace weft_test
