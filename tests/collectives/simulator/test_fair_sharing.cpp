// SPDX-License-Identifier: Apache-2.0
// Transfers that share links.
#include <algorithm>
#include <numeric>
#include <random>
#include <weft/schedules/builders.hpp>

#include "catch.hpp"
#include "fair_sharing.hpp"
#include "jobs.hpp"
#include "seed.hpp"

using namespace weft::simulator;
using namespace weft_test;

namespace {

/// `switches` leaf switches below one, `machines` machines below each, a rank on each; every link carries a byte in
/// `gap_per_byte`.
network two_levels(int switches, int machines, double gap_per_byte) {
  std::vector<int> parent{-1}, node_of;
  for (int s = 0; s < switches; ++s) {
    parent.push_back(0);
    const int leaf = static_cast<int>(parent.size()) - 1;
    for (int m = 0; m < machines; ++m) {
      node_of.push_back(static_cast<int>(parent.size()));
      parent.push_back(leaf);
    }
  }
  return with_capacity(tree_of(parent), 1 / gap_per_byte, std::move(node_of));
}

workload ring_over(const std::vector<int>& order, std::size_t bytes) {
  const weft::schedules::ring ring{static_cast<int>(order.size()), order, {2, 4}};
  return workload_of(ring.ranks, bytes, 1,
                     [&](int rank, weft::schedules::sink& to) { weft::schedules::ring_allreduce(ring, rank, to); });
}

/// Rank 2 i sends to rank 2 i + 1.
workload pairs(int ranks, std::uint64_t bytes) {
  std::vector<std::vector<written_step>> steps;
  for (int rank = 0; rank < ranks; ++rank)
    steps.push_back({rank % 2 == 0 ? send(rank + 1, bytes) : receive(rank - 1, bytes)});
  return job_of(steps);
}

machine_model wire(double gap_per_byte, port_model ports = port_model::pipelined) {
  machine_model m;
  m.latency = 10;
  m.gap_per_byte = gap_per_byte;
  m.ports = ports;
  return m;
}

}  // namespace

TEST_CASE("links that are as fast as the ports change nothing") {
  // Not so for many ports: a machine's link is shared by its segments.
  for (const port_model ports : {port_model::pipelined, port_model::one}) {
    const network links = two_levels(4, 8, 3);
    std::vector<int> order(32);
    std::iota(order.begin(), order.end(), 0);
    const workload all = ring_over(order, 32 * 1024);
    CHECK(completion(all, wire(3, ports), &links) == completion(all, wire(3, ports)));
  }
}

TEST_CASE("a port takes messages a gap apart, with links as without") {
  const network links = two_levels(2, 4, 3);
  machine_model model = wire(3);
  model.gap = 50;
  std::vector<std::vector<written_step>> steps(8);
  for (int rank = 1; rank < 8; ++rank) {
    steps[static_cast<std::size_t>(rank)] = {send(0, 2)};
    steps[0].push_back(receive(rank, 2));
  }
  const workload all = job_of(steps);
  CHECK(completion(all, model) == 10 + 6 * 50 + 2 * 3);
  CHECK(completion(all, model, &links) == completion(all, model));
}

TEST_CASE("a depth-first order of the machines runs a ring unslowed, random orders are slowed") {
  const auto seed = test_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const network links = two_levels(4, 8, 3);
  std::vector<int> order(32);
  std::iota(order.begin(), order.end(), 0);
  const double alone = completion(ring_over(order, 32 * 1024), wire(3));
  for (int trial = 0; trial < 5; ++trial) {
    std::shuffle(order.begin(), order.end(), random);
    CHECK(completion(ring_over(order, 32 * 1024), wire(3), &links) > 2 * alone);
  }
}

TEST_CASE("transfers over one link share it, and go on faster when one has ended") {
  // Ranks 0, 2 on one switch send to 1, 3 on another.
  const network links = with_capacity(tree_of(std::vector{-1, 0, 0, 1, 2, 1, 2}), 1, {3, 4, 5, 6});
  CHECK(completion(pairs(4, 100), wire(1), &links) == 210);
  const workload uneven = job_of({{send(1, 100)}, {receive(0, 100)}, {send(3, 50)}, {receive(2, 50)}});
  // 50 and 50 in the first 100, then the other 50 alone.
  const simulation done = simulate(uneven, wire(1), &links);
  CHECK(done.ranks[3].finish == 110);
  CHECK(done.ranks[1].finish == 160);
  // The second begins when the first has half left: 25 more at half speed take 50, and so on.
  const workload later =
      job_of({{send(1, 100)}, {receive(0, 100)}, {calculate(50), send(3, 50, {0})}, {receive(2, 50)}});
  const simulation overlapped = simulate(later, wire(1), &links);
  CHECK(overlapped.ranks[1].finish == 160);
  CHECK(overlapped.ranks[3].finish == 160);
}

TEST_CASE("what one link leaves over goes to those that can take it") {
  // Three flows: A over links 1 and 2, B over 1, C over 2. Link 1 (capacity 1) stops A and B at 1/2; C gets the rest of
  // link 2 (capacity 2): 3/2.
  //     root 0: nodes 1 and 2; ranks 0 and 1 on node 1 send up; 2 is on node 2, 3 on the root.
  network links = with_capacity(tree_of(std::vector{-1, 0, 0}), 1, {1, 1, 2, 0, 0});
  links.links[2].capacity = links.links[3].capacity = 2;
  fair_sharing sharing(links, 5, 0, false);
  const auto begin = [&](std::uint32_t from, int to) {
    fair_sharing::flow flow;
    flow.rank = from;
    sharing.begin(flow, to, 6);
  };
  begin(0, 2);  // A: up from 1, down to 2
  begin(1, 3);  // B: up from 1
  begin(4, 2);  // C: down to 2
  sharing.settle(0);
  CHECK(sharing.next_end() == Approx(4));  // C: 6 bytes at 3/2
  CHECK(sharing.take_ended(sharing.next_end()).at(0).rank == 4);
  sharing.settle(4);
  CHECK(sharing.next_end() == Approx(12));  // A and B, still at 1/2
  CHECK(sharing.take_ended(sharing.next_end()).size() == 2);
}

TEST_CASE("senders to one rank share its port") {
  const workload all = job_of({{receive(1, 60), receive(2, 60)}, {send(0, 60)}, {send(0, 60)}});
  const network links = two_levels(1, 3, 0.001);
  CHECK(completion(all, wire(1), &links) == Approx(130));
  CHECK(completion(all, wire(1, port_model::one), &links) == Approx(140));
  CHECK(completion(all, wire(1, port_model::many), &links) == Approx(70));
}

TEST_CASE("shared links give the same figures every time") {
  std::vector<int> order(32);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937_64(7));
  const network links = two_levels(4, 8, 3);
  const workload all = ring_over(order, 1000);
  CHECK(completion(all, wire(3), &links) == completion(all, wire(3), &links));
}
