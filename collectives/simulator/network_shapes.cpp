// SPDX-License-Identifier: Apache-2.0
// Trees, fat trees and tori.
#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>
#include <weft/simulator/network.hpp>

namespace weft::simulator {
namespace {

constexpr int most_nodes = 1 << 24;

std::size_t index(int node) { return static_cast<std::size_t>(node); }

[[noreturn]] void no_network(const std::string& why) { throw std::invalid_argument("network: " + why); }

/// Cables to each of some nodes above; cable i is the links 2 i and 2 i + 1.
void add_cable(network& to, levels& of, int node, int parent) {
  of.above.push_back(parent);
  to.links.push_back({.from = node, .to = parent});
  to.links.push_back({.from = parent, .to = node});
}

void check_tree(std::span<const int> parent) {
  const int nodes = static_cast<int>(parent.size());
  for (int node = 0; node < nodes; ++node)
    if (parent[index(node)] < -1 || parent[index(node)] >= nodes)
      no_network("node " + std::to_string(node) + " has no node as its parent: " + std::to_string(parent[index(node)]));
  if (const auto roots = std::ranges::count(parent, -1); roots != 1)
    no_network("a tree has one root, not " + std::to_string(roots));
}

int depth(std::span<const int> parent, int node) {
  int above = 0;
  for (int up = node; parent[index(up)] != -1; up = parent[index(up)])
    if (++above > static_cast<int>(parent.size())) no_network("node " + std::to_string(node) + " is below itself");
  return above;
}

int product(std::span<const int> of, const char* what) {
  std::int64_t all = 1;
  for (const int one : of) {
    if (one < 1) no_network(std::string(what) + " are whole numbers from 1, not " + std::to_string(one));
    all *= one;
    if (all > most_nodes) no_network("it has more than " + std::to_string(most_nodes) + " nodes");
  }
  return static_cast<int>(all);
}

}  // namespace

network tree_of(std::span<const int> parent) {
  check_tree(parent);
  network made;
  levels of;
  for (int node = 0; node < static_cast<int>(parent.size()); ++node) {
    const bool top = parent[index(node)] == -1;
    of.nodes.push_back({.depth = depth(parent, node),
                        .first = static_cast<std::uint32_t>(of.above.size()),
                        .parents = top ? 0U : 1U,
                        .cables = top ? 0U : 1U});
    if (!top) add_cable(made, of, node, parent[index(node)]);
  }
  made.ways = std::move(of);
  return made;
}

// A node of level l is low + high w[0] ... w[l - 1]: `low` says by which switches its way down comes from above
// (one of w[0], of w[1], ...), `high` which machines are below it (of m[l], of m[l + 1], ...), m being `below` and w
// `above`. Its parents have the same digits, but for the next of w in place of the next of m.
network fat_tree_of(const fat_tree_shape& shape) {
  const std::size_t height = shape.below.size();
  if (height == 0 || shape.above.size() != height || shape.cables.size() != height)
    no_network("a fat tree has as many numbers of nodes below, above and of cables as levels, and a level at least");
  product(shape.below, "a fat tree's numbers");
  product(shape.above, "a fat tree's numbers");
  product(shape.cables, "a fat tree's numbers");
  network made;
  levels of;
  int first = 0, lows = 1;
  std::int64_t every = 1;
  for (std::size_t level = 0; level <= height; ++level) {
    const auto wide = std::int64_t{lows} * product(std::span(shape.below).subspan(level), "a fat tree's numbers");
    if (first + wide > most_nodes) no_network("it has more than " + std::to_string(most_nodes) + " nodes");
    const int count = static_cast<int>(wide);
    const bool top = level == height;
    const int parents = top ? 0 : shape.above[level], cables = top ? 0 : shape.cables[level];
    if (wide * parents > most_nodes / std::max(cables, 1))
      no_network("it has more than " + std::to_string(most_nodes) + " cables");
    for (int i = 0; i < count; ++i) {
      of.nodes.push_back({.depth = static_cast<int>(height - level),
                          .first = static_cast<std::uint32_t>(of.above.size()),
                          .parents = static_cast<std::uint32_t>(parents),
                          .cables = static_cast<std::uint32_t>(cables),
                          .every = static_cast<std::uint32_t>(std::min<std::int64_t>(every, most_nodes))});
      const int low = i % lows, high = top ? 0 : i / lows / shape.below[level];
      for (int cable = 0; cable < cables; ++cable)
        for (int parent = 0; parent < parents; ++parent)
          add_cable(made, of, first + i, first + count + low + lows * (parent + parents * high));
    }
    first += count;
    if (top) break;
    every = std::min<std::int64_t>(every * parents * cables, most_nodes);
    lows = product(std::span(shape.above).first(level + 1), "a fat tree's numbers");
  }
  made.ways = std::move(of);
  return made;
}

network torus_of(std::vector<int> sizes) {
  if (sizes.empty() || std::ranges::min(sizes) < 2) no_network("a torus has sizes from 2 on, one a dimension");
  const int nodes = product(sizes, "sizes");
  network made;
  for (int node = 0; node < nodes; ++node) {
    int stride = 1;
    for (const int size : sizes) {
      const int at = node / stride % size;
      const int next = node + (at == size - 1 ? -at : 1) * stride;
      made.links.push_back({.from = node, .to = next});
      made.links.push_back({.from = next, .to = node});
      stride *= size;
    }
  }
  made.ways = torus{std::move(sizes)};
  return made;
}

std::vector<int> link_levels(const network& of) {
  std::vector<int> all(of.links.size());
  if (const torus* const rings = std::get_if<torus>(&of.ways)) {
    for (std::size_t l = 0; l < all.size(); ++l) all[l] = static_cast<int>(l / 2 % rings->sizes.size());
    return all;
  }
  const levels& up = std::get<levels>(of.ways);
  std::vector<int> order(up.nodes.size()), height(up.nodes.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater{}, [&](int node) { return up.nodes[index(node)].depth; });
  for (const int node : order) {
    const levels::node& here = up.nodes[index(node)];
    for (std::uint32_t cable = here.first; cable < here.first + here.parents * here.cables; ++cable) {
      int& above = height[index(up.above[cable])];
      above = std::max(above, height[index(node)] + 1);
      all[2 * cable] = all[2 * cable + 1] = height[index(node)];
    }
  }
  return all;
}

}  // namespace weft::simulator
