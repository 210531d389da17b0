// SPDX-License-Identifier: Apache-2.0
#include <vector>
#include <weft/topology/network_place.hpp>
#include <weft/topology/switches_above.hpp>

#include "catch.hpp"

using namespace weft::topology;

TEST_CASE("of what Slurm tells of a node its switches remain") {
  const auto told = [](const char* address, const char* pattern, const char* node = "node1") {
    return switches_by_slurm(address, pattern, node);
  };
  CHECK(told("core.leaf0.node1", "switch.switch.node") == "core.leaf0");
  CHECK(told("leaf0.node1", "switch.node") == "leaf0");
  CHECK(told("core.leaf0.node1.example", "switch.switch.node", "node1.example") == "core.leaf0");
  CHECK(told("core..leaf0.node1", "switch.switch.switch.node") == "core.leaf0");
  CHECK(told("..node1", "switch.switch.node").empty());
  CHECK(told("node1", "node").empty());
  CHECK(told("", "").empty());
  CHECK(told("leaf0.node1", "switch.switch.node").empty());
  CHECK(told("core.leaf.0.node1", "switch.switch.node").empty());
  CHECK(told("core.leaf0.node1", "switch.switch.node", "node2").empty());
  CHECK(told("core.leaf0.node1", "switch.switch.node", "").empty());
  CHECK(told("block1.node1", "block.node").empty());
  CHECK(told("core.leaf0.node1", "switch.block.node").empty());
}

TEST_CASE("machines that know the switches above them make a network") {
  const std::vector<machine_below> all{
      {"a", "core.west"}, {"b", "core.east.row"}, {"a", "core.west"}, {"c", "core.west"}, {"d", "core"}};
  const auto found = network_of(all);
  REQUIRE(found.has_value());
  CHECK(found->machine_of == std::vector{0, 1, 0, 2, 3});
  const network* const made = &found->between;
  CHECK(made->top == 0);
  CHECK(made->switches.size() == 4);
  CHECK(made->switches[0].name == "core");
  CHECK(made->switches[0].switches == std::vector{1, 2});
  CHECK(made->switches[1].name == "west");
  CHECK(made->switches[1].machines == std::vector{0, 2});
  CHECK(made->switches[3].name == "row");
  CHECK(made->switches[3].parent == 2);
  const auto places = places_of(*made, found->machine_of);
  CHECK(places[0].cluster == places[2].cluster);
  CHECK(places[0].cluster == places[3].cluster);
  CHECK(places[0].cluster != places[1].cluster);
  CHECK(places[0].cluster != places[4].cluster);
}

TEST_CASE("machines that are not all below one top make none") {
  const auto none = [](const std::vector<machine_below>& all) { return !network_of(all).has_value(); };
  CHECK(none({}));
  CHECK(none({{"a", ""}}));
  CHECK(none({{"a", "core.west"}, {"b", ""}}));
  CHECK(none({{"a", "core.west"}, {"b", "other.west"}}));
  CHECK(none({{"a", "core.west"}, {"b", "west"}}));
  CHECK(none({{"a", "core.west"}, {"a", "core.east"}}));
}
