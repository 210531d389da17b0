// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <weft/simulator/network.hpp>

namespace weft::simulator {
namespace {

std::size_t at(int node) { return static_cast<std::size_t>(node); }

bool is_time(double value) { return value >= 0 && std::isfinite(value); }

int depth(const network& of, int node) {
  int above = 0;
  for (; of.parent[at(node)] != -1; node = of.parent[at(node)])
    if (++above > static_cast<int>(of.parent.size()))
      throw std::invalid_argument("network: node " + std::to_string(node) + " is below itself");
  return above;
}

}  // namespace

void check(const network& of, int ranks) {
  const int nodes = static_cast<int>(of.parent.size());
  const auto wrong = [](int node, const std::string& what) {
    throw std::invalid_argument("network: node " + std::to_string(node) + " " + what);
  };
  if (of.capacity.size() != of.parent.size())
    throw std::invalid_argument("network: as many capacities as nodes are needed");
  for (const auto* const given : {&of.delay, &of.gap_per_byte})
    if (!given->empty() && (given->size() != of.parent.size() || !std::ranges::all_of(*given, is_time)))
      throw std::invalid_argument("network: as many delays and gaps as nodes are needed, finite and at least 0");
  int roots = 0;
  for (int node = 0; node < nodes; ++node) {
    const int parent = of.parent[at(node)];
    if (parent < -1 || parent >= nodes) wrong(node, "has no node as its parent: " + std::to_string(parent));
    if (parent == -1) {
      ++roots;
    } else if (!(of.capacity[at(node)] > 0)) {
      wrong(node, "has a link without capacity");
    }
  }
  if (roots != 1) throw std::invalid_argument("network: a tree has one root, not " + std::to_string(roots));
  for (int node = 0; node < nodes; ++node) depth(of, node);
  if (of.node_of.size() < at(ranks))
    throw std::invalid_argument("network: rank " + std::to_string(of.node_of.size()) + " is on no node");
  for (int rank = 0; rank < ranks; ++rank)
    if (of.node_of[at(rank)] < 0 || of.node_of[at(rank)] >= nodes)
      throw std::invalid_argument("network: rank " + std::to_string(rank) + " is on no node");
}

std::vector<link> path(const network& of, int from, int to) {
  std::vector<link> links;
  const auto climb = [&](int& node, bool up) {
    links.push_back({node, up});
    node = of.parent[at(node)];
  };
  int from_depth = depth(of, from), to_depth = depth(of, to);
  for (; from_depth > to_depth; --from_depth) climb(from, true);
  for (; to_depth > from_depth; --to_depth) climb(to, false);
  while (from != to) {
    climb(from, true);
    climb(to, false);
  }
  return links;
}

double delay_of(const network& of, int from, int to) {
  double all = 0;
  if (!of.delay.empty())
    for (const link& one : path(of, from, to)) all += of.delay[at(one.below)];
  return all;
}

}  // namespace weft::simulator
