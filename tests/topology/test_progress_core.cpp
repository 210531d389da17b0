// SPDX-License-Identifier: Apache-2.0
#include <weft/topology/placement.hpp>

#include "catch.hpp"

using namespace weft::topology;
using weft_test::ContainsSubstring;

namespace {

// Four caches of two cores, two of them in each NUMA node; core n has the cpus 2n and 2n+1.
machine four_caches() { return load_synthetic("numa:2 l3:2 core:2 pu:2"); }

std::vector<int> cores_of(const std::vector<progress_core>& chosen) {
  std::vector<int> cores;
  for (const progress_core& c : chosen) cores.push_back(c.core);
  return cores;
}

}  // namespace

TEST_CASE("a progress thread goes to the nearest core without ranks") {
  const machine m = four_caches();
  const progress_core same_cache = choose_progress_core(m, cpu_set::parse("4-5"));
  CHECK(same_cache.core == 3);
  CHECK(same_cache.cpus == cpu_set{6});
  CHECK(same_cache.reason == "core 3 (cpu 6): outside the cores of the ranks, shares L3 with them");
  const progress_core same_node = choose_progress_core(m, cpu_set::parse("8-11"));
  CHECK(same_node.core == 6);
  CHECK_THAT(same_node.reason, ContainsSubstring("in their NUMA node"));
  const progress_core other_node = choose_progress_core(m, cpu_set::parse("0-7"));
  CHECK(other_node.core == 4);
  CHECK_THAT(other_node.reason, ContainsSubstring("NUMA node 1 at distance 20"));
}

TEST_CASE("the core of cpu 0 comes last among equals, but before farther ones") {
  const machine m = four_caches();
  CHECK(choose_progress_core(m, {}).core == 1);
  CHECK(choose_progress_core(m, cpu_set::parse("4-7")).core == 1);
  CHECK(choose_progress_core(m, cpu_set::parse("2-3")).core == 0);
}

TEST_CASE("a whole core far away is better than the other hardware thread of a rank's core") {
  machine m = four_caches();
  CHECK(choose_progress_core(m, cpu_set::parse("0,2,4,6")).core == 4);
  m.given = cpu_set::parse("0-7");
  const progress_core sibling = choose_progress_core(m, cpu_set::parse("0,2,4,6"));
  CHECK(sibling.core == 1);
  CHECK(sibling.cpus == cpu_set{3});
  CHECK_THAT(sibling.reason, ContainsSubstring("a free hardware thread of a rank's core"));
}

TEST_CASE("with no core free there is none, and the reason says so") {
  machine m = four_caches();
  const progress_core none = choose_progress_core(m, m.cpus);
  CHECK(none.core == -1);
  CHECK(none.cpus.empty());
  CHECK(none.reason ==
        "every core that this process was given runs a rank: the progress thread shares cpus 0-15 with the ranks");
  m.given = cpu_set::parse("2-3");
  CHECK(choose_progress_core(m, cpu_set::parse("2-3")).core == -1);
}

TEST_CASE("only given cpus are taken") {
  machine m = four_caches();
  m.given = cpu_set::parse("0-1,15");
  const progress_core chosen = choose_progress_core(m, cpu_set::parse("0-1"));
  CHECK(chosen.core == 7);
  CHECK(chosen.cpus == cpu_set{15});
}

TEST_CASE("progress threads of several processes keep apart, each near its own ranks") {
  machine m = four_caches();
  const std::vector<cpu_set> spread{cpu_set::parse("0-1"), cpu_set::parse("12-13")};
  CHECK(cores_of(choose_progress_cores(m, spread)) == std::vector<int>{1, 7});
  const std::vector<cpu_set> compact{cpu_set::parse("0-1"), cpu_set::parse("2-3"), cpu_set::parse("4-5")};
  CHECK(cores_of(choose_progress_cores(m, compact)) == std::vector<int>{3, 4, 5});

  m.given = cpu_set::parse("0-7");  // one core is left: its two threads go to the first two, the third finds none
  const auto chosen = choose_progress_cores(m, compact);
  CHECK(cores_of(chosen) == std::vector<int>{3, 3, -1});
  CHECK(chosen[0].cpus == cpu_set{6});
  CHECK(chosen[1].cpus == cpu_set{7});
  CHECK_THAT(chosen[1].reason, ContainsSubstring("beside another progress thread"));
  CHECK(chosen[2].reason ==
        "every core that this process was given runs a rank or another progress thread: the progress "
        "thread shares cpus 4-5 with the ranks");
}

TEST_CASE("among equally near cores the one at the network device in use wins") {
  machine m = load_synthetic("numa:4 l3:1 core:2 pu:1");  // cpus 0-1, 2-3, 4-5, 6-7; every node equally far
  m.network_devices.push_back({"eth0", network_kind::ethernet, "", {2, 3}, 1});
  m.network_devices.push_back({"mlx5_0", network_kind::verbs, "", {6, 7}, 3});
  m.network_devices.push_back({"virtual", network_kind::other, "", m.cpus, -1});
  const cpu_set ranks{0, 1};
  const progress_core at_fastest = choose_progress_core(m, ranks);
  CHECK(at_fastest.core == 6);
  CHECK_THAT(at_fastest.reason, ContainsSubstring("nearest to NIC mlx5_0"));
  CHECK(choose_progress_core(m, ranks, "eth0").core == 2);
  CHECK(choose_progress_core(m, ranks, "virtual").core == 2);
  CHECK(choose_progress_core(m, ranks, "no such device").core == 6);
  // The ranks' own cache comes before the device.
  const progress_core at_ranks = choose_progress_core(m, {0});
  CHECK(at_ranks.core == 1);
  CHECK_THAT(at_ranks.reason,
             ContainsSubstring("shares L3") && ContainsSubstring("far from NIC mlx5_0 (its cpus: 6-7)"));
}
