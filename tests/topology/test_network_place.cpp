// SPDX-License-Identifier: Apache-2.0
#include <weft/runtime/error.hpp>
#include <weft/topology/network_place.hpp>
#include <weft/topology/switches_above.hpp>

#include "catch.hpp"

using namespace weft::topology;

namespace {

const char* const two_clusters =
    "SwitchName=west Nodes=a[0-3]\n"
    "SwitchName=rack0 Nodes=b[0-1]\n"
    "SwitchName=rack1 Nodes=b[2-3]\n"
    "SwitchName=east Switches=rack[0-1]\n"
    "SwitchName=wide Switches=west,east Nodes=alone\n";

std::vector<int> clusters(const std::vector<std::string>& hosts) {
  const network of = parse_network(two_clusters);
  std::vector<int> found;
  for (const network_place& place : places_of(of, machines_of_ranks(of, hosts))) found.push_back(place.cluster);
  return found;
}

std::vector<int> positions(const std::vector<std::string>& hosts) {
  const network of = parse_network(two_clusters);
  std::vector<int> found;
  for (const network_place& place : places_of(of, machines_of_ranks(of, hosts))) found.push_back(place.position);
  return found;
}

using numbers = std::vector<int>;

}  // namespace

TEST_CASE("clusters are what hangs below the lowest switch that all processes are below") {
  CHECK(clusters({"a0", "b0", "a1", "b3"}) == numbers{0, 1, 0, 1});
  CHECK(clusters({"b3", "b0", "b1", "b2"}) == numbers{0, 1, 1, 0});
  CHECK(clusters({"b0", "b1", "alone", "a3"}) == numbers{0, 0, 1, 2});
  CHECK(clusters({"a0", "a1", "a2"}) == numbers{0, 0, 0});
  CHECK(clusters({"b2", "b2"}) == numbers{0, 0});
  CHECK(clusters({"alone"}) == numbers{0});
  CHECK(clusters({}).empty());
}

TEST_CASE("positions follow the network, processes of a machine one after another") {
  CHECK(positions({"a0", "b0", "a1", "b3", "a0"}) == numbers{0, 3, 2, 4, 1});
  CHECK(positions({"b3", "alone", "a0"}) == numbers{2, 0, 1});
}

TEST_CASE("who is told what is above the machines of a network makes the part of it that they are on") {
  const network of = parse_network(two_clusters);
  const std::vector<int> machines = machines_of_ranks(of, std::vector<std::string>{"b2", "alone", "b0", "b2"});
  const auto part = network_of(known_to(of, machines));
  REQUIRE(part);
  CHECK(part->machine_of == numbers{0, 1, 2, 0});
  CHECK(part->between.machines.size() == 3);
  CHECK(part->between.switches.size() == 4);  // not west
  const auto found = places_of(part->between, part->machine_of);
  const auto whole = places_of(of, machines);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    CHECK(found[i].cluster == whole[i].cluster);
    CHECK(found[i].machine == part->machine_of[i]);
    CHECK(whole[i].machine == machines[i]);
  }
}

TEST_CASE("a machine that there is not has no place") {
  const network of = parse_network(two_clusters);
  CHECK_THROWS_AS(places_of(of, std::vector{0, 9}), weft::error);
}
