// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <random>
#include <weft/runtime/error.hpp>
#include <weft/schedules/builders.hpp>
#include <weft/schedules/schedule_sink.hpp>
#include <weft/topology/ring_order.hpp>

#include "catch.hpp"
#include "seed.hpp"

using namespace weft::topology;

namespace {

/// A tree of switches, every one with machines below it, and machines anywhere.
network random_network(std::mt19937_64& random) {
  const auto drawn = [&](std::size_t most) { return static_cast<int>(random() % most); };
  network made;
  made.top = 0;
  const int switches = 1 + drawn(20);
  for (int i = 0; i < switches; ++i) {
    const int parent = i == 0 ? -1 : drawn(made.switches.size());
    made.switches.push_back({"s" + std::to_string(i), parent, {}, {}});
    if (parent != -1) made.switches[static_cast<std::size_t>(parent)].switches.push_back(i);
  }
  for (int i = 0; i < switches; ++i) {
    network_switch& one = made.switches[static_cast<std::size_t>(i)];
    const int machines = drawn(5) + (one.switches.empty() ? 1 : 0);
    for (int j = 0; j < machines; ++j) {
      one.machines.push_back(static_cast<int>(made.machines.size()));
      made.machines.push_back({"n" + std::to_string(made.machines.size()), i});
    }
  }
  return made;
}

/// 1 to 4 ranks on each machine, numbered at random.
std::vector<int> random_placement(const network& of, std::mt19937_64& random) {
  std::vector<int> machine_of_rank;
  for (std::size_t machine = 0; machine < of.machines.size(); ++machine)
    machine_of_rank.insert(machine_of_rank.end(), 1 + random() % 4, static_cast<int>(machine));
  std::shuffle(machine_of_rank.begin(), machine_of_rank.end(), random);
  return machine_of_rank;
}

/// Machines in the subtree of each switch.
std::vector<int> machines_below(const network& of) {
  std::vector<int> count(of.switches.size());
  for (const network_machine& machine : of.machines)
    for (int one = machine.at; one != -1; one = of.switches[static_cast<std::size_t>(one)].parent)
      ++count[static_cast<std::size_t>(one)];
  return count;
}

/// Whether every link that leads from machines to machines carries one transfer in each direction.
bool one_each(const network& of, const link_loads& loads) {
  const int machines = static_cast<int>(of.machines.size());
  const std::vector<int> each_machine(of.machines.size(), machines > 1 ? 1 : 0);
  if (loads.from_machine != each_machine || loads.to_machine != each_machine) return false;
  const auto below = machines_below(of);
  for (std::size_t i = 0; i < of.switches.size(); ++i) {
    const int expected = below[i] > 0 && below[i] < machines ? 1 : 0;
    if (loads.from_switch[i] != expected || loads.to_switch[i] != expected) return false;
  }
  return true;
}

/// Of 200 networks that are drawn, with the machine of each rank.
template <class Body>
void for_each_placement(Body&& body) {
  const auto seed = weft_test::test_seed();
  INFO("WEFT_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  for (int trial = 0; trial < 200; ++trial) {
    CAPTURE(trial);
    const network of = random_network(random);
    body(of, random_placement(of, random), random);
  }
}

}  // namespace

TEST_CASE("a depth-first ring loads every directed link of any tree once") {
  for_each_placement([](const network& of, const std::vector<int>& machine_of_rank, std::mt19937_64&) {
    const auto order = ring_order(of, machine_of_rank);
    std::vector<int> all(order), ranks(machine_of_rank.size());
    std::sort(all.begin(), all.end());
    std::iota(ranks.begin(), ranks.end(), 0);
    REQUIRE(all == ranks);
    REQUIRE(one_each(of, loads_of_ring(of, machine_of_rank, order)));
  });
}

TEST_CASE("those who are left of a ring after failures go on in its order, each over links of its own") {
  for_each_placement([](const network& of, const std::vector<int>& machine_of_rank, std::mt19937_64& random) {
    std::vector<int> order, machines;
    for (const int rank : ring_order(of, machine_of_rank)) {
      if (random() % 3 == 0) continue;
      order.push_back(static_cast<int>(order.size()));
      machines.push_back(machine_of_rank[static_cast<std::size_t>(rank)]);
    }
    REQUIRE(loads_of_ring(of, machines, order).most() <= 1);
  });
}

TEST_CASE("a ring all-reduce in this order sends the least there is over links of its own") {
  namespace schedules = weft::schedules;
  for_each_placement([](const network& of, const std::vector<int>& machine_of_rank, std::mt19937_64&) {
    const auto ranks = machine_of_rank.size();
    const schedules::ring around{static_cast<int>(ranks), ring_order(of, machine_of_rank), {}};
    std::vector<machine_transfer> first_of_each;  // all at once
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const auto its = schedules::built_by(
          [&](schedules::sink& to) { schedules::ring_allreduce(around, static_cast<int>(rank), to); });
      const std::size_t elements = 5 * ranks;
      std::size_t sent = 0;
      int to = -1;
      for (const schedules::step& s : its.steps) {
        if (s.kind != schedules::step_kind::send) continue;
        sent += schedules::elements_of(its.cut, elements, its.sources_of(s)[0].elements).count;
        REQUIRE((to == -1 || to == s.peer));
        to = s.peer;
      }
      REQUIRE(sent * ranks == 2 * (ranks - 1) * elements);
      if (to != -1) first_of_each.push_back({machine_of_rank[rank], machine_of_rank[static_cast<std::size_t>(to)]});
    }
    REQUIRE(one_each(of, loads_of(of, first_of_each)));
  });
}

TEST_CASE("rings at random make transfers share links") {
  // Four switches in a row, with eight machines each.
  const network of = parse_network(
      "SwitchName=s0 Nodes=n[0-7]\n"
      "SwitchName=s1 Nodes=n[8-15] Switches=s0\n"
      "SwitchName=s2 Nodes=n[16-23] Switches=s1\n"
      "SwitchName=s3 Nodes=n[24-31] Switches=s2\n");
  std::vector<int> machine_of_rank(32);
  std::iota(machine_of_rank.begin(), machine_of_rank.end(), 0);
  REQUIRE(loads_of_ring(of, machine_of_rank, ring_order(of, machine_of_rank)).most() == 1);
  std::mt19937_64 random(1);  // the same orders every time: one in some thousands leaves the bounds
  int least = 32, most = 0;
  for (int trial = 0; trial < 500; ++trial) {
    std::vector<int> order(machine_of_rank);
    for (std::size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[random() % (i + 1)]);
    const int load = loads_of_ring(of, machine_of_rank, order).most();
    least = std::min(least, load);
    most = std::max(most, load);
  }
  REQUIRE(least == 5);
  REQUIRE(most == 12);
}

TEST_CASE("transfers are counted on every link of their way") {
  const network of = parse_network(
      "SwitchName=s0 Nodes=a,b\n"
      "SwitchName=s1 Nodes=c\n"
      "SwitchName=s2 Switches=s[0-1]\n");
  const std::vector<machine_transfer> transfers{{0, 2}, {1, 2}, {0, 1}, {2, 2}};
  const link_loads loads = loads_of(of, transfers);
  CHECK(loads.from_machine == std::vector{2, 1, 0});
  CHECK(loads.to_machine == std::vector{0, 1, 2});
  CHECK(loads.from_switch == std::vector{2, 0, 0});
  CHECK(loads.to_switch == std::vector{0, 2, 0});
  CHECK(loads.most() == 2);
  CHECK(loads_of(of, {}).most() == 0);
}

TEST_CASE("the order goes machine by machine, and only over machines that have ranks") {
  const network of = parse_network(
      "SwitchName=s0 Nodes=a,b\n"
      "SwitchName=s1 Nodes=c\n"
      "SwitchName=top Switches=s1,s0 Nodes=d\n");
  CHECK(ring_order(of, std::vector{0, 3, 2, 0}) == std::vector{1, 2, 0, 3});
  CHECK(ring_order(of, {}).empty());
  const std::vector<int> alone{1, 1, 1};
  CHECK(loads_of_ring(of, alone, ring_order(of, alone)).most() == 0);
}

TEST_CASE("machines and ranks that there are not are refused") {
  const network of = parse_network("SwitchName=s Nodes=a,b");
  CHECK_THROWS_AS(ring_order(of, std::vector{2}), weft::error);
  CHECK_THROWS_AS(loads_of(of, std::vector<machine_transfer>{{0, -1}}), weft::error);
  CHECK_THROWS_AS(loads_of_ring(of, std::vector{0, 1}, std::vector{0, 2}), weft::error);
}
