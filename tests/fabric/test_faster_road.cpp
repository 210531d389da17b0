// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"
#include "fabric/shm/faster_road.hpp"

using weft::fabric::faster_road;

namespace {

/// Sends so many payloads, which take so long by each road; how many of the last half went in parts.
int in_parts(faster_road& road, int payloads, std::uint64_t by_parts, std::uint64_t by_reading) {
  int found = 0;
  for (int i = 0; i < payloads; ++i) {
    const bool parts = road.by_parts();
    const std::uint64_t late = i % 3 == 0 ? 1'000'000 : 0;  // a receiver that computes
    road.took(parts, 1 << 20, (parts ? by_parts : by_reading) + late);
    found += parts && i >= payloads / 2 ? 1 : 0;
  }
  return found;
}

}  // namespace

TEST_CASE("long payloads take the road that is the faster, and the other one when that changes", "[road]") {
  faster_road road;
  CHECK(in_parts(road, 2000, 100'000, 200'000) > 950);
  CHECK(in_parts(road, 2000, 100'000, 50'000) < 50);
  CHECK(in_parts(road, 2000, 40'000, 50'000) > 950);
}
