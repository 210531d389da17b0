// SPDX-License-Identifier: Apache-2.0
// How often something is timed at a job's start, and what the times come to, by times that are made up.
#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <vector>
#include <weft/choice/steady_time.hpp>

#include "catch.hpp"
#include "seed.hpp"

using namespace weft::detail;

namespace {

constexpr double us = 1e-6, ms = 1e-3;

/// What takes as long as `times` says of each run, by a clock of its own.
struct made_up {
  std::function<double(int)> times;
  double budget = 600 * us;
  int runs = 0;
  double clock = 0;
  std::function<std::int64_t(std::int64_t)> agreed = [](std::int64_t more) { return more; };

  repeats how() const {
    repeats often;
    often.budget = budget;
    return often;
  }
  double measure() {
    const auto run = [this] {
      const double time = times(runs++);
      clock += time;
      return time;
    };
    return steady_time(how(), run, agreed, [this] { return clock; });
  }
};

bool close(double time, double to) { return std::abs(time / to - 1) < 1e-6; }

}  // namespace

TEST_CASE("a cold first run neither counts nor decides how often there are others") {
  made_up warm{[](int) { return 10 * us; }}, cold{[](int i) { return i == 0 ? 5 * ms : 10 * us; }};
  CHECK(close(warm.measure(), 10 * us));
  CHECK(close(cold.measure(), 10 * us));
  CHECK(cold.runs == warm.runs);
  CHECK(warm.runs == 60 + warm.how().warm_ups);
}

TEST_CASE("a run that loses its core for 4 ms changes nothing, whichever it is") {
  for (int lost = 0; lost < 62; ++lost) {
    made_up one{[&](int i) { return i == lost ? 4 * ms : 10 * us; }};
    CAPTURE(lost);
    CHECK(close(one.measure(), 10 * us));
    CHECK(one.runs == 62);
  }
}

TEST_CASE("of a slow start what comes after it counts") {
  made_up slow{[](int i) { return std::max(200 * us * std::pow(0.8, i), 10 * us); }};
  CHECK(slow.measure() < 12 * us);
  made_up abrupt{[](int i) { return i < 8 ? 90 * us : 10 * us; }};
  CHECK(close(abrupt.measure(), 10 * us));
}

TEST_CASE("what is always slow is so, after no more runs than it takes to see it") {
  made_up slow{[](int) { return 2 * ms; }};
  CHECK(close(slow.measure(), 2 * ms));
  CHECK(slow.runs == slow.how().warm_ups + slow.how().least);
}

TEST_CASE("where most runs are held up there are more, until enough were not") {
  made_up crowded{[](int i) { return i % 9 == 8 ? 200 * us : (1 + i % 5) * ms; }};
  CHECK(close(crowded.measure(), 200 * us));
  made_up hopeless{[](int i) { return std::pow(3, -i) * ms; }};
  hopeless.measure();
  CHECK(hopeless.runs > hopeless.how().warm_ups + hopeless.how().least);
  CHECK(hopeless.runs <= hopeless.how().warm_ups + 1000);
}

TEST_CASE("how long it takes has an end, whatever the times are") {
  made_up worse{[](int i) { return std::pow(2.5, i % 7) * (i + 1) * 20 * us; }};
  worse.measure();
  CHECK(worse.clock < 100 * ms);
  made_up nothing{[](int) { return 0.0; }};
  CHECK(nothing.measure() == 0);
  CHECK(nothing.runs == nothing.how().most + nothing.how().warm_ups);
}

TEST_CASE("what is faster once is not believed") {
  made_up lucky{[](int i) { return i == 20 ? 6 * us : 10 * us; }};
  CHECK(lucky.measure() > 9 * us);
}

TEST_CASE("those that run it together do so equally often, by what one of them says") {
  std::vector<std::int64_t> said;
  made_up leads{[](int) { return 10 * us; }};
  leads.agreed = [&](std::int64_t more) { return said.emplace_back(more); };
  leads.measure();
  std::size_t next = 0;
  made_up follows{[](int i) { return i == 3 ? 4 * ms : 70 * us; }};
  follows.agreed = [&](std::int64_t) { return said.at(next++); };
  follows.measure();
  CHECK(follows.runs == leads.runs);
  CHECK(next == said.size());
}

TEST_CASE("starts on a machine where much happens come to nearly the same") {
  const auto seed = weft_test::test_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> chance(0, 1);
  std::vector<double> found;
  for (int start = 0; start < 50; ++start) {
    const int cold = static_cast<int>(4 * chance(random));
    made_up one{[&](int i) {
      if (i <= cold) return 10 * us + 3 * ms * chance(random);
      return 10 * us * (1 + 0.3 * chance(random)) + (chance(random) < 0.1 ? 4 * ms : 0);
    }};
    found.push_back(one.measure());
  }
  CHECK(*std::ranges::max_element(found) < 1.2 * *std::ranges::min_element(found));
}
