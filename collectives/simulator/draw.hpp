// SPDX-License-Identifier: Apache-2.0
// Random numbers that are the same on every machine.
#pragma once

#include <cstdint>

namespace weft::simulator {

/// The `number`-th draw from [0, 1): splitmix64 (Steele, Lea and Flood 2014).
inline double draw(std::uint64_t seed, std::uint64_t number) {
  std::uint64_t state = seed + (number + 1) * 0x9e3779b97f4a7c15;
  state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9;
  state = (state ^ (state >> 27)) * 0x94d049bb133111eb;
  state ^= state >> 31;
  return static_cast<double>(state >> 11) * 0x1p-53;
}

}  // namespace weft::simulator
