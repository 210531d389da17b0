// SPDX-License-Identifier: Apache-2.0
// Whole collectives, against what others have computed.
#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <weft/schedules/builders.hpp>
#include <weft/schedules/greedy_tree.hpp>
#include <weft/schedules/regular_trees.hpp>
#include <weft/schedules/timing.hpp>
#include <weft/simulator/timeline.hpp>

#include "catch.hpp"
#include "jobs.hpp"
#include "seed.hpp"

using namespace weft::simulator;
using namespace weft_test;
using weft::schedules::tree;
using weft::schedules::tree_edge;

namespace {

/// Canon and Antoniu's machine: a transfer takes d, a combine c.
machine_model overlapping(double transfer, double compute) {
  machine_model m;
  m.latency = transfer;
  m.compute_per_byte = compute;
  m.ports = port_model::one;
  return m;
}

/// The same tree, each rank receiving from its children in the order of their transfers, which is what Proposition 3
/// supposes. (A schedule combines in the order of the tree.)
tree in_order_of_transfers(const tree& of, double transfer, double compute) {
  std::vector<tree_edge> edges;
  for (const auto& edge : weft::schedules::timing(of, transfer, compute).edges) edges.push_back({edge.from, edge.to});
  return {of.ranks(), of.root(), edges};
}

tree random_tree(int ranks, std::mt19937_64& random) {
  std::vector<tree_edge> edges;
  for (int rank = 1; rank < ranks; ++rank) edges.push_back({rank, std::uniform_int_distribution(0, rank - 1)(random)});
  return {ranks, 0, edges};
}

}  // namespace

TEST_CASE("with one port, greedy trees take what Proposition 3 says") {
  for (const auto& [d, c] : {std::pair{1., 1.}, {7., 4.}, {4., 7.}, {0., 3.}, {3., 0.}, {10., 1.}, {1., 10.}})
    for (const int ranks : {2, 3, 4, 5, 8, 31, 64, 100, 333, 1024}) {
      CAPTURE(d, c, ranks);
      const tree of = weft::schedules::greedy_tree(ranks, ranks / 3, d, c);
      CHECK(completion(reduction(of, 1), overlapping(d, c)) == weft::schedules::timing(of, d, c).length);
    }
}

TEST_CASE("with one port, binomial trees of a power of two take what Proposition 3 says") {
  for (int ranks = 2; ranks <= 2048; ranks *= 2) {
    const tree of = weft::schedules::binomial_tree(ranks, 0);
    CHECK(completion(reduction(of, 1), overlapping(7, 4)) == weft::schedules::timing(of, 7, 4).length);
  }
}

TEST_CASE("with one port, any tree in the order of its transfers takes what Proposition 3 says") {
  const auto seed = test_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int trial = 0; trial < 300; ++trial) {
    const int ranks = std::uniform_int_distribution(2, 80)(random);
    const double d = std::uniform_int_distribution(0, 9)(random), c = std::uniform_int_distribution(0, 9)(random);
    const tree any = random_tree(ranks, random);
    const tree of = in_order_of_transfers(any, d, c);
    CAPTURE(draw(of), d, c);
    const double length = weft::schedules::timing(of, d, c).length;
    CHECK(completion(reduction(of, 1), overlapping(d, c)) == length);
    CHECK(completion(reduction(any, 1), overlapping(d, c)) >= length);
  }
}

TEST_CASE("the bytes of an operand count in d and in c") {
  const tree of = weft::schedules::greedy_tree(64, 0, 2 + 8 * 3, 8 * 5);
  machine_model m = overlapping(2, 5);
  m.gap_per_byte = 3;
  CHECK(completion(reduction(of, 8), m) == weft::schedules::timing(of, 26, 40).length);
}

TEST_CASE("preposted rendezvous takes what eager does, where every receive is posted ahead") {
  const tree of = weft::schedules::greedy_tree(64, 0, 7, 4);
  machine_model m = overlapping(7, 4);
  const workload all = reduction(of, 1, {1, 64});
  const double eager = completion(all, m);
  m.eager_limit = 0;
  CHECK(completion(all, m) > eager);
  m.preposted = true;
  CHECK(completion(all, m) == eager);
}

TEST_CASE("full f-nomial trees take what Moody et al. compute") {
  // Their model coincides where o = g = G = 0, messages of one phase come at once (ports are pipelined), a reception
  // and its reduction are one piece of work r + c, the tree is full; the initial overhead C is before all.
  constexpr double latency = 2.10, work = 0.42 + 1.50;
  for (const auto& [degree, phases] : {std::pair{2, 5}, {3, 3}, {4, 3}, {5, 2}, {16, 1}, {2, 10}}) {
    machine_model m;
    m.latency = latency;
    m.compute_per_byte = work;
    int ranks = 1;
    for (int phase = 0; phase < phases; ++phase) ranks *= degree;
    CHECK(completion(reduction(weft::schedules::fnomial_tree(ranks, 0, degree), 1, {1, 64}), m) ==
          Approx((latency + (degree - 1) * work) * phases));
  }
}

TEST_CASE("31 ranks, message by message, are faster than Moody et al.'s formula for binomial trees") {
  machine_model m;
  m.latency = 2.10;
  m.compute_per_byte = 0.42 + 1.50;
  const double initial = 9.20;
  CHECK(initial + completion(reduction(weft::schedules::binomial_tree(31, 0), 1), m) == Approx(27.20).margin(0.005));
}

TEST_CASE("known collectives take what their formulas say") {
  machine_model m;
  m.latency = 100;
  m.overhead = 10;
  m.gap_per_byte = 2;
  const auto barrier = workload_of(
      16, 0, 1, [](int rank, weft::schedules::sink& to) { weft::schedules::dissemination_barrier(16, rank, to); });
  CHECK(completion(barrier, m) == 4 * 120);
  const auto doubling = workload_of(16, 5, 1, [](int rank, weft::schedules::sink& to) {
    weft::schedules::recursive_doubling_allreduce(16, rank, {}, to);
  });
  CHECK(completion(doubling, m) == 4 * 130);
  const weft::schedules::ring ring{10, {}, {1, 4}};
  const auto around = workload_of(
      10, 40, 1, [&](int rank, weft::schedules::sink& to) { weft::schedules::ring_allreduce(ring, rank, to); });
  CHECK(completion(around, m) == 2 * 9 * (120 + 4 * 2));
  const auto broadcast = workload_of(
      16, 5, 1, [](int rank, weft::schedules::sink& to) { weft::schedules::binomial_broadcast(16, 0, rank, {}, to); });
  CHECK(completion(broadcast, m) == 4 * 130);
}

TEST_CASE("every message is transferred and received once, after it was sent, and in its port's order") {
  const auto seed = test_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int trial = 0; trial < 60; ++trial) {
    const int ranks = std::uniform_int_distribution(2, 12)(random);
    const weft::schedules::ring ring{ranks, {}, {std::uniform_int_distribution<std::uint32_t>(1, 5)(random), 3}};
    const auto all = workload_of(
        ranks, 1000, 1, [&](int rank, weft::schedules::sink& to) { weft::schedules::ring_allreduce(ring, rank, to); });
    machine_model m;
    const auto up_to = [&](int most) { return static_cast<double>(std::uniform_int_distribution(0, most)(random)); };
    m.latency = up_to(50);
    m.overhead = 1 + up_to(5);
    m.gap = up_to(20);
    m.gap_per_byte = 1 + up_to(2);
    m.compute_per_byte = up_to(1);
    m.eager_limit = std::uniform_int_distribution(0, 1)(random) == 0 ? 10 : 100'000;
    m.preposted = std::uniform_int_distribution(0, 1)(random) == 0;
    m.ports = static_cast<port_model>(std::uniform_int_distribution(0, 2)(random));
    timeline seen;
    const simulation done = simulate(all, m, nullptr, &seen);
    const auto expected = static_cast<std::uint64_t>(2 * ranks * (ranks - 1)) * ring.by.segments;
    CHECK(done.messages == expected);
    std::set<activity_id> ids;
    std::map<int, std::vector<std::pair<double, double>>> cpu, into;
    std::uint64_t transfers = 0;
    for (const activity& a : seen.activities()) {
      CHECK(ids.insert(a.id).second);
      CHECK(a.start <= a.end);
      if (a.kind == activity_kind::transfer) {
        ++transfers;
        CHECK(a.sent <= a.start);
        CHECK(a.end >= a.sent + m.latency + static_cast<double>(a.amount) * m.gap_per_byte);
        into[a.peer].emplace_back(m.ports == port_model::one ? a.start : a.end, a.end);
      } else {
        cpu[a.rank].emplace_back(a.start, a.end);
      }
    }
    CHECK(transfers == expected);
    for (auto* const resources : {&cpu, &into})
      for (auto& [rank, uses] : *resources) {
        std::sort(uses.begin(), uses.end());
        for (std::size_t i = 1; i < uses.size(); ++i)
          if (resources == &cpu || m.ports != port_model::many) CHECK(uses[i - 1].second <= uses[i].first);
      }
  }
}

TEST_CASE("ranks that wait for one another are named") {
  machine_model m;
  m.eager_limit = 64;
  const workload crossed = job_of({{send(1, 65), receive(1, 65, {0})}, {send(0, 65), receive(0, 65, {0})}});
  CHECK_THROWS_AS(simulate(crossed, m), deadlock);
  CHECK_THROWS_WITH(simulate(crossed, m), ContainsSubstring("rank 0, step 0 (send of 65 bytes to rank 1) waits for "
                                                            "rank 1, step 1 (receive of 65 bytes from rank 0)"));
  CHECK_THROWS_WITH(simulate(crossed, m), ContainsSubstring("above 64 bytes are not buffered"));
  m.eager_limit = 65;
  CHECK(completion(crossed, m) == 0);
}
