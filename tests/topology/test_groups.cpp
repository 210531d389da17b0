// SPDX-License-Identifier: Apache-2.0
#include <weft/topology/groups.hpp>

#include "catch.hpp"

using namespace weft::topology;

using groups = std::vector<std::vector<int>>;

TEST_CASE("domains cut the machine by cache or by NUMA node") {
  const machine m = load_synthetic("numa:2 l3:2 core:2 pu:2");
  CHECK(domains(m, sharing::numa_node) == std::vector{cpu_set::parse("0-7"), cpu_set::parse("8-15")});
  CHECK(domains(m, sharing::last_level_cache) ==
        std::vector{cpu_set::parse("0-3"), cpu_set::parse("4-7"), cpu_set::parse("8-11"), cpu_set::parse("12-15")});
  const machine bare = load_synthetic("numa:1 core:3 pu:1");
  CHECK(domains(bare, sharing::last_level_cache) == std::vector<cpu_set>{{0}, {1}, {2}});
}

TEST_CASE("cpus are of one NUMA node or of none") {
  const machine m = load_synthetic("numa:3 core:2 pu:2");
  CHECK(numa_node_of(m, {0}) == 0);
  CHECK(numa_node_of(m, cpu_set::parse("4-7")) == 1);
  CHECK(numa_node_of(m, {11}) == 2);
  CHECK(numa_node_of(m, cpu_set::parse("10,900")) == 2);  // a cpu that this machine does not have counts for nothing
  CHECK(numa_node_of(m, {3, 4}) == -1);
  CHECK(numa_node_of(m, m.cpus) == -1);
  CHECK(numa_node_of(m, {}) == -1);
  CHECK(numa_node_of(m, {900}) == -1);
  const machine one = load_synthetic("numa:1 core:3 pu:1");
  CHECK(numa_node_of(one, one.cpus) == 0);
}

TEST_CASE("ranks group by what they share, and roaming ones are apart") {
  const machine m = load_synthetic("numa:2 l3:2 core:2 pu:2");
  const std::vector<cpu_set> bindings{{8, 9}, {0, 1}, {10}, {2}, cpu_set::parse("0-7"), {4, 5}, m.cpus, {}};
  CHECK(group_ranks(m, bindings, sharing::last_level_cache) == groups{{0, 2}, {1, 3}, {5}, {4, 6, 7}});
  CHECK(group_ranks(m, bindings, sharing::numa_node) == groups{{0, 2}, {1, 3, 4, 5}, {6, 7}});
  CHECK(group_ranks(m, {}, sharing::numa_node).empty());
}
