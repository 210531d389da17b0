// SPDX-License-Identifier: Apache-2.0
// Who is late, by itself: in which calls ranks look, and what follows from how long they waited.
#include <algorithm>
#include <random>
#include <vector>
#include <weft/choice/arrival_watch.hpp>

#include "catch.hpp"
#include "seed.hpp"

using weft::detail::arrival_watch;
using weft::detail::find_arrivals;

TEST_CASE("ranks look soon, and then further and further apart") {
  arrival_watch watch;
  std::vector<int> looks;
  for (int call = 0; call < 140; ++call, watch.count())
    if (watch.looks()) looks.push_back(call);
  CHECK(looks == std::vector<int>{2, 3, 4, 6, 10, 18, 34, 66, 98, 130});
}

TEST_CASE("a rank tells the median of its latest three waits, and before the first that it knows nothing") {
  arrival_watch watch;
  CHECK(watch.wait() == arrival_watch::unknown);
  watch.waited(5);
  CHECK(watch.wait() == 5);
  watch.waited(1);
  CHECK(watch.wait() == 1);
  watch.waited(9);
  CHECK(watch.wait() == 5);
  watch.waited(0.5);
  watch.waited(0.25);
  CHECK(watch.wait() == 0.5);
}

TEST_CASE("whoever waited least came last, by the difference") {
  std::vector<double> arrivals;
  REQUIRE(find_arrivals(std::vector<double>{1, 0.2, 1.02, 0.9}, 0.25, arrivals));
  CHECK(arrivals == std::vector<double>{0, 1, 0, 0});
  SECTION("less than what is late is on time") {
    REQUIRE(find_arrivals(std::vector<double>{1, 0.9, 1.02, 0.9}, 0.25, arrivals));
    CHECK(arrivals.empty());
  }
  SECTION("where one rank knows nothing nothing changes") {
    REQUIRE_FALSE(find_arrivals(std::vector<double>{0.1, 2, arrival_watch::unknown, 2}, 0.25, arrivals));
    CHECK(arrivals == std::vector<double>{0, 1, 0, 0});
  }
}

TEST_CASE("arrivals follow the waits of any ranks to within a factor of the root of two") {
  std::mt19937_64 random(weft_test::test_seed());
  for (int time = 0; time < 1000; ++time) {
    const double late = std::uniform_real_distribution(1e-6, 1e-3)(random);
    std::vector<double> waits(2 + random() % 20), arrivals;
    for (double& each : waits) each = std::uniform_real_distribution(0.0, 20 * late)(random);
    REQUIRE(find_arrivals(waits, late, arrivals));
    const double longest = *std::ranges::max_element(waits);
    if (arrivals.empty()) {
      CHECK(longest - *std::ranges::min_element(waits) < late);
      continue;
    }
    for (std::size_t rank = 0; rank < waits.size(); ++rank) {
      const double behind = longest - waits[rank];
      CAPTURE(late, behind, arrivals[rank]);
      if (behind < late) {
        CHECK(arrivals[rank] == 0);
      } else {
        CHECK(arrivals[rank] <= 1.4143 * behind);
        CHECK(behind <= 1.4143 * arrivals[rank]);
      }
    }
  }
}
