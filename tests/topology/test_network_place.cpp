// SPDX-License-Identifier: Apache-2.0
#include <weft/runtime/error.hpp>
#include <weft/topology/network_place.hpp>

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

TEST_CASE("a machine that there is not has no place") {
  const network of = parse_network(two_clusters);
  CHECK_THROWS_AS(places_of(of, std::vector{0, 9}), weft::error);
}
