// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <weft/topology/network_place.hpp>
#include <weft/topology/ring_order.hpp>

#include "index.hpp"

namespace weft::topology {
namespace {

/// The switches above a machine, the top first.
std::vector<int> way_down_to(const network& of, int machine) {
  std::vector<int> way;
  for (int one = of.machines[at(machine)].at; one != -1; one = of.switches[at(one)].parent) way.push_back(one);
  std::ranges::reverse(way);
  return way;
}

/// How many switches are above all of these ways' machines.
std::size_t common_length(const std::vector<std::vector<int>>& ways) {
  std::size_t length = ways.empty() ? 0 : ways.front().size();
  for (const auto& way : ways)
    length = std::min<std::size_t>(length, std::ranges::mismatch(way, ways.front()).in1 - way.begin());
  return length;
}

}  // namespace

std::vector<network_place> places_of(const network& of, std::span<const int> machines) {
  const std::vector<int> order = ring_order(of, machines);
  std::vector<network_place> places(machines.size());
  for (std::size_t i = 0; i < order.size(); ++i) places[at(order[i])].position = static_cast<int>(i);
  for (std::size_t i = 0; i < places.size(); ++i) places[i].machine = machines[i];
  std::vector<std::vector<int>> ways;
  for (const int machine : machines) ways.push_back(way_down_to(of, machine));
  const std::size_t common = common_length(ways);
  if (std::ranges::all_of(ways, [&](const auto& way) { return way.size() == common; })) return places;
  std::map<std::pair<bool, int>, int> clusters;  // by whether it is a machine, and which
  for (std::size_t i = 0; i < ways.size(); ++i) {
    const bool alone = ways[i].size() == common;
    const std::pair below(alone, alone ? machines[i] : ways[i][common]);
    places[i].cluster = clusters.try_emplace(below, static_cast<int>(clusters.size())).first->second;
  }
  return places;
}

}  // namespace weft::topology
