// The seed of random tests.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>

namespace weft_test {

/// WEFT_TEST_SEED, to repeat a test, or another one every time.
inline std::uint64_t test_seed() {
  const char* given = std::getenv("WEFT_TEST_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 0) : std::random_device()();
}

}  // namespace weft_test
