// SPDX-License-Identifier: Apache-2.0
// The seed of random tests.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>

namespace weft_test {

/// WEFT_TEST_SEED, or a new one.
inline std::uint64_t test_seed() {
  if (const char* const given = std::getenv("WEFT_TEST_SEED")) return std::strtoull(given, nullptr, 0);
  return std::random_device()();
}

}  // namespace weft_test
