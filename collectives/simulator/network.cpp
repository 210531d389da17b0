// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <weft/simulator/network.hpp>

namespace weft::simulator {
namespace {

bool is_time(double value) { return value >= 0 && std::isfinite(value); }

/// Climbs from both ends, the lower one first.
void append_levels(const levels& of, int from, int to, std::vector<std::uint32_t>& links) {
  const auto source = static_cast<std::uint32_t>(from), destination = static_cast<std::uint32_t>(to);
  const auto climb = [&](int& node, bool up) {
    const levels::node& here = of.nodes[static_cast<std::size_t>(node)];
    std::uint32_t cable = here.first;
    if (const std::uint32_t choices = here.parents * here.cables; choices > 1) {
      const std::uint32_t by_destination = destination / here.every % choices;
      cable += up ? by_destination : by_destination % here.parents + source % here.cables * here.parents;
    }
    links.push_back(2 * cable + (up ? 0 : 1));
    node = of.above[cable];
  };
  const auto depth = [&](int node) { return of.nodes[static_cast<std::size_t>(node)].depth; };
  while (from != to) {
    const int below = depth(from) - depth(to);
    if (below >= 0) climb(from, true);
    if (below <= 0) climb(to, false);
  }
}

/// One dimension after the other.
void append_torus(const torus& of, int from, int to, std::vector<std::uint32_t>& links) {
  const int dimensions = static_cast<int>(of.sizes.size());
  int stride = 1;
  for (int j = 0; j < dimensions; ++j) {
    const int size = of.sizes[static_cast<std::size_t>(j)];
    const int first = from / stride % size, last = to / stride % size;
    const int ahead = (last - first + size) % size;
    const bool up = 2 * ahead < size || (2 * ahead == size && 2 * first != size);
    const int base = from - first * stride;
    for (int at = first; at != last;) {
      const int next = (at + (up ? 1 : size - 1)) % size;
      const int cable = (base + (up ? at : next) * stride) * dimensions + j;
      links.push_back(static_cast<std::uint32_t>(2 * cable + (up ? 0 : 1)));
      at = next;
    }
    from = base + last * stride;
    stride *= size;
  }
}

}  // namespace

int network::nodes() const {
  if (const levels* const up = std::get_if<levels>(&ways)) return static_cast<int>(up->nodes.size());
  int all = 1;
  for (const int size : std::get<torus>(ways).sizes) all *= size;
  return all;
}

void check(const network& of, int ranks) {
  for (const link& one : of.links) {
    const auto wrong = [&](const char* what) {
      throw std::invalid_argument("network: the link from node " + std::to_string(one.from) + " to node " +
                                  std::to_string(one.to) + what);
    };
    if (!(one.capacity > 0)) wrong(" has no capacity");
    if (!is_time(one.delay) || !is_time(one.overhead) || !is_time(one.gap) || !is_time(one.gap_per_byte))
      wrong(" costs what is no finite time from 0");
  }
  const int nodes = of.nodes();
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(ranks); ++rank)
    if (rank >= of.node_of.size() || of.node_of[rank] < 0 || of.node_of[rank] >= nodes)
      throw std::invalid_argument("network: rank " + std::to_string(rank) + " is on no node");
}

void append_way(const network& of, int from, int to, std::vector<std::uint32_t>& links) {
  if (const levels* const up = std::get_if<levels>(&of.ways)) return append_levels(*up, from, to, links);
  append_torus(std::get<torus>(of.ways), from, to, links);
}

way_costs costs_of(const network& of, std::span<const std::uint32_t> way) {
  way_costs all;
  for (const std::uint32_t l : way) {
    const link& one = of.links[l];
    all.delay += one.delay;
    all.overhead = std::max(all.overhead, one.overhead);
    all.gap = std::max(all.gap, one.gap);
    all.gap_per_byte = std::max(all.gap_per_byte, one.gap_per_byte);
  }
  return all;
}

way_costs costs_between(const network& of, int from, int to) {
  std::vector<std::uint32_t> way;
  append_way(of, from, to, way);
  return costs_of(of, way);
}

}  // namespace weft::simulator
