// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <random>
#include <weft/schedules/greedy_tree.hpp>
#include <weft/schedules/regular_trees.hpp>
#include <weft/simulator/timeline.hpp>

#include "catch.hpp"
#include "jobs.hpp"
#include "seed.hpp"

using namespace weft::simulator;
using namespace weft_test;

namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE("the critical path goes through what was waited for") {
  machine_model m;
  m.latency = 100;
  m.overhead = 10;
  m.compute_per_byte = 1;
  // Rank 1's message comes while rank 0 works: the path begins with that work.
  const workload all =
      job_of({{calculate(500), receive(1, 8), combine(8, {1}), send(2, 8, {2})}, {send(0, 8)}, {receive(0, 8)}});
  timeline seen;
  const critical_path path = critical_path_of(simulate(all, m, nullptr, &seen), seen);
  std::vector<std::pair<int, activity_kind>> names;
  for (const activity& a : path.activities) names.emplace_back(a.rank, a.kind);
  CHECK(names == std::vector<std::pair<int, activity_kind>>{{0, activity_kind::compute},
                                                            {0, activity_kind::receive_overhead},
                                                            {0, activity_kind::compute},
                                                            {0, activity_kind::send_overhead},
                                                            {0, activity_kind::transfer},
                                                            {2, activity_kind::receive_overhead}});
  CHECK(path.time_of[static_cast<std::size_t>(activity_kind::compute)] == 508);
  CHECK(path.time_of[static_cast<std::size_t>(activity_kind::transfer)] == 100);
  CHECK(path.other == 0);
  CHECK(path.activities.back().end == 638);
}

TEST_CASE("the critical path adds up to the completion") {
  for (const port_model ports : {port_model::pipelined, port_model::one, port_model::many})
    for (const std::uint64_t eager_limit : {0, 100}) {
      machine_model m;
      m.latency = 100;
      m.overhead = 7;
      m.gap = 30;
      m.gap_per_byte = 2;
      m.compute_per_byte = 3;
      m.ports = ports;
      m.eager_limit = eager_limit;
      timeline seen;
      const simulation done = simulate(reduction(weft::schedules::binomial_tree(37, 5), 64, {4, 2}), m, nullptr, &seen);
      const critical_path path = critical_path_of(done, seen);
      double sum = path.other, start = 0;
      for (const double time : path.time_of) sum += time;
      CHECK(sum == done.completion);
      CHECK(path.other >= 0);
      CHECK(path.activities.back().end == done.completion);
      for (const activity& a : path.activities) {
        CHECK(a.start >= start);
        start = a.start;
      }
      if (eager_limit == 100 && ports != port_model::pipelined) CHECK(path.other == 0);
    }
}

TEST_CASE("the path searched by a second run is the one of all that is kept") {
  const auto seed = test_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const auto draw = [&](int least, int most) { return std::uniform_int_distribution(least, most)(random); };
  for (int trial = 0; trial < 300; ++trial) {
    const machine_model m = drawn_machine(random, noise_model::phase::random);
    const int ranks = draw(2, 40);
    const weft::schedules::pipeline by{static_cast<std::uint32_t>(draw(1, 4)), static_cast<std::uint32_t>(draw(1, 4))};
    const workload all = draw(0, 1) == 0 ? reduction(weft::schedules::binomial_tree(ranks, draw(0, ranks - 1)), 64, by)
                                         : workload_of(ranks, 100, 1, [&](int rank, weft::schedules::sink& to) {
                                             weft::schedules::ring_allreduce({ranks, {}, by}, rank, to);
                                           });
    timeline seen;
    const simulation kept = simulate(all, m, nullptr, &seen);
    const critical_path expected = critical_path_of(kept, seen);
    const auto [done, path] = simulate_with_path(all, m);
    CAPTURE(trial, ranks);
    CHECK(done.completion == kept.completion);
    CHECK(path.length == expected.activities.size());
    CHECK(path.time_of == expected.time_of);
    CHECK(path.other == expected.other);
    REQUIRE(path.activities.size() == expected.activities.size());
    for (std::size_t i = 0; i < path.activities.size(); ++i) {
      CHECK(path.activities[i].id == expected.activities[i].id);
      CHECK(path.activities[i].start == expected.activities[i].start);
      CHECK(path.activities[i].end == expected.activities[i].end);
    }
  }
}

TEST_CASE("of a long path the begin and the end are kept, and all is counted") {
  machine_model m;
  m.latency = 10;
  m.overhead = 1;
  const auto [done, path] = simulate_with_path(reduction(weft::schedules::chain_tree(30'000, 0), 8), m);
  CHECK(done.completion == 12 * 29'999);
  CHECK(path.length == 3 * 29'999);
  REQUIRE(path.activities.size() == most_path_kept);
  CHECK(path.activities.front().start == 0);
  CHECK(path.activities.back().end == done.completion);
  CHECK(path.time_of[static_cast<std::size_t>(activity_kind::transfer)] == 10 * 29'999);
  CHECK(path.time_of[static_cast<std::size_t>(activity_kind::send_overhead)] == 29'999);
}

TEST_CASE("a message that waits for its sender's port follows from the one before it") {
  machine_model m;
  m.latency = 100;
  m.gap_per_byte = 3;
  timeline seen;
  const simulation done =
      simulate(job_of({{send(1, 10), send(1, 20)}, {receive(0, 10), receive(0, 20)}}), m, nullptr, &seen);
  const critical_path path = critical_path_of(done, seen);
  REQUIRE(path.activities.size() == 2);
  CHECK(path.activities[0].end == 130);
  CHECK(path.activities[1].start == 30);
  CHECK(path.activities[1].end == 190);
  CHECK(path.time_of[static_cast<std::size_t>(activity_kind::transfer)] == 190);
  CHECK(path.other == 0);
}

TEST_CASE("a job in which nothing takes time has no critical path") {
  timeline seen;
  const simulation done = simulate(job_of({{calculate(0)}}), {}, nullptr, &seen);
  const critical_path path = critical_path_of(done, seen);
  CHECK(path.activities.empty());
  CHECK(path.other == 0);
}

TEST_CASE("a drawing has a box for each activity and an arrow for each message") {
  machine_model m;
  m.latency = 1;
  m.compute_per_byte = 1;
  m.ports = port_model::one;
  timeline seen;
  const simulation done = simulate(reduction(weft::schedules::greedy_tree(4, 0, 1, 1), 1), m, nullptr, &seen);
  const std::string svg = to_svg(done, seen);
  CHECK(svg.substr(0, 4) == "<svg");
  CHECK(svg.substr(svg.size() - 7) == "</svg>\n");
  CHECK(count(svg, "<rect class=\"transfer\"") == 3);
  CHECK(count(svg, "<rect class=\"compute\"") == 3);
  CHECK(count(svg, "<line class=\"message\"") == 3);
  CHECK(count(svg, "<line class=\"row\"") == 4);
  CHECK(count(svg, "<rect") == count(svg, "</rect>"));
}

TEST_CASE("a drawing in which nothing could be seen is refused") {
  timeline seen;
  for (std::size_t i = 0; i <= most_drawn; ++i) seen.happened({});
  CHECK_THROWS_WITH(to_svg({}, seen), ContainsSubstring("at most 100000"));
}
