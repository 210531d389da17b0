// SPDX-License-Identifier: Apache-2.0
// Trials by themselves: which candidate which call takes, and what follows from their times.
#include <algorithm>
#include <array>
#include <random>
#include <vector>
#include <weft/choice/candidate_trial.hpp>

#include "catch.hpp"
#include "seed.hpp"

using weft::detail::candidate_trial;
using weft::detail::tried;

namespace {

/// The candidates that a trial's calls take.
std::vector<std::size_t> order_of(std::size_t candidates) {
  candidate_trial trial(candidates);
  std::vector<std::size_t> order;
  for (; !trial.is_over(); trial.count()) order.push_back(trial.next().candidate);
  return order;
}

/// Times of as many candidates, all of them alike but for those that are given.
std::vector<double> times_of(std::size_t candidates, double usual) {
  return std::vector<double>(candidates * candidate_trial::rounds, usual);
}

}  // namespace

TEST_CASE("the first calls go by the first candidate, then all take turns in rounds that begin with each") {
  for (const std::size_t candidates : {2, 3}) {
    const auto order = order_of(candidates);
    REQUIRE(order.size() == candidate_trial::calls_of(candidates));
    const auto begin = order.begin() + candidate_trial::calls_before;
    CHECK(std::all_of(order.begin(), begin, [](std::size_t each) { return each == 0; }));
    std::vector<int> began(candidates);
    for (auto round = begin; round != order.end(); round += static_cast<std::ptrdiff_t>(candidates)) {
      std::vector<std::size_t> its(round, round + static_cast<std::ptrdiff_t>(candidates));
      ++began[its.front()];
      std::ranges::sort(its);
      for (std::size_t each = 0; each < candidates; ++each) CHECK(its[each] == each);
    }
    const auto [least, most] = std::ranges::minmax(began);
    CHECK(most - least <= 1);
  }
}

TEST_CASE("each candidate gives as many times, none of them from the first round") {
  candidate_trial trial(3);
  std::array<int, 3> given{};
  std::vector<bool> seen(3 * candidate_trial::rounds);
  for (std::uint32_t call = 0; !trial.is_over(); ++call, trial.count()) {
    const auto turn = trial.next();
    const bool counts = call >= candidate_trial::calls_before + 3;
    REQUIRE(turn.time.has_value() == counts);
    if (!counts) continue;
    ++given[turn.candidate];
    REQUIRE(*turn.time / candidate_trial::rounds == turn.candidate);
    CHECK_FALSE(seen[*turn.time]);
    seen[*turn.time] = true;
  }
  for (const int each : given) CHECK(each == candidate_trial::rounds);
}

TEST_CASE("what a call took is kept at its place, and 0 stands for what nobody took") {
  candidate_trial trial(2);
  for (double seconds = 1; !trial.is_over(); seconds += 1, trial.count())
    if (const auto turn = trial.next(); turn.candidate == 1) trial.took(turn, seconds);
  const auto all = trial.seconds();
  CHECK(std::ranges::all_of(all.first(candidate_trial::rounds), [](double each) { return each == 0; }));
  CHECK(std::ranges::all_of(all.last(candidate_trial::rounds), [](double each) { return each > 0; }));
}

TEST_CASE("the fastest has the least lower quartile, of what is known") {
  auto times = times_of(3, 2);
  CHECK(candidate_trial::fastest(times) == 0);
  const auto of = [&](std::size_t candidate) { return times.begin() + candidate_trial::rounds * candidate; };
  SECTION("slow calls do not count while two are fast") {
    std::fill_n(of(2), candidate_trial::rounds, 100);
    std::fill_n(of(2) + 3, 2, 1);
    CHECK(candidate_trial::fastest(times) == 2);
  }
  SECTION("neither does a fast one alone") {
    *of(1) = 0.1;
    CHECK(candidate_trial::fastest(times) == 0);
  }
  SECTION("what is predicted to be slower has to be faster by a tenth") {
    std::fill_n(of(1), candidate_trial::rounds, 1.9);
    CHECK(candidate_trial::fastest(times) == 0);
    std::fill_n(of(1), candidate_trial::rounds, 1.7);
    CHECK(candidate_trial::fastest(times) == 1);
  }
  SECTION("of one that nobody timed nothing is known") {
    std::fill_n(of(1), candidate_trial::rounds, 0);
    std::fill_n(of(2), candidate_trial::rounds, 1);
    CHECK(candidate_trial::fastest(times) == 2);
    std::fill_n(of(0), 2 * candidate_trial::rounds, 0);
    CHECK(candidate_trial::fastest(times) == 2);
    CHECK(candidate_trial::fastest(times_of(3, 0)) == 0);
  }
  SECTION("calls that were started, which nobody timed, are left out") {
    std::fill_n(of(1), candidate_trial::rounds, 0);
    *of(1) = 1;
    CHECK(candidate_trial::fastest(times) == 1);
  }
}

// Time is what the test says: calls become slower while the trial goes on, some are held up on some ranks.
TEST_CASE("ranks that agree on times that drift, with calls that are held up, choose the fastest") {
  const auto seed = weft_test::test_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const auto below = [&](double end) { return std::uniform_real_distribution<double>(0, end)(random); };
  for (int trial = 0; trial < 500; ++trial) {
    const std::size_t candidates = 2 + random() % 2;
    std::vector<double> costs(candidates);
    for (double& each : costs) each = 1 + below(0.5);
    const std::size_t right = random() % candidates;
    costs[right] = 0.8;
    const double drift = below(0.005);  // of each call
    std::vector<candidate_trial> ranks(4, candidate_trial(candidates));
    for (std::size_t call = 0; !ranks[0].is_over(); ++call)
      for (candidate_trial& each : ranks) {
        const auto turn = each.next();
        REQUIRE(turn.candidate == ranks[0].next().candidate);
        const double held_up = random() % 50 == 0 ? below(100) : 0;
        each.took(turn, (costs[turn.candidate] + below(0.02)) * (1 + drift * static_cast<double>(call)) + held_up);
        if (&each == &ranks.back())
          for (candidate_trial& one : ranks) one.count();
      }
    auto slowest = std::vector<double>(ranks[0].seconds().begin(), ranks[0].seconds().end());
    for (const candidate_trial& each : ranks)
      std::ranges::transform(slowest, each.seconds(), slowest.begin(),
                             [](double a, double b) { return std::max(a, b); });
    REQUIRE(candidate_trial::fastest(slowest) == right);
  }
}

TEST_CASE("a shape takes what is predicted to be the fastest until it is known what is") {
  tried<int> its({7, 8, 9});
  CHECK(its.best() == 7);
  its.fastest = 2;
  CHECK(its.best() == 9);
}
