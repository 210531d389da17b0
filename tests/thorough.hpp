// SPDX-License-Identifier: Apache-2.0
// Whether all is to be tried, or as much as fits into the test of every change.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <random>
#include <vector>

#include "sanitized.hpp"

namespace weft_test {

/// Where WEFT_TEST_THOROUGH is set, as it is by `tests/run.sh --thorough`, but not where all is slowed. Else tests that
/// try much of a kind draw some of it, in each run others.
inline bool thorough() {
  static const bool asked = std::getenv("WEFT_TEST_THOROUGH") != nullptr;
  return asked && !slowed;
}

/// `count` of these, in their order; all where the test is thorough.
template <class T>
std::vector<T> drawn(const std::vector<T>& all, std::size_t count, std::mt19937_64& random) {
  if (thorough()) return all;
  std::vector<T> some;
  std::sample(all.begin(), all.end(), std::back_inserter(some), static_cast<std::ptrdiff_t>(count), random);
  return some;
}

}  // namespace weft_test
