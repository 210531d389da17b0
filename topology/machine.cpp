// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <weft/topology/machine.hpp>

namespace weft::topology {

int distance(const machine& m, int from, int to) {
  const auto& known = m.numa_nodes.at(from).distances;
  if (!known.empty()) return known.at(to);
  return from == to ? 10 : 20;  // LOCAL_DISTANCE and REMOTE_DISTANCE of Linux
}

std::vector<int> nearest_numa_nodes(const machine& m, int from) {
  std::vector<int> nodes(m.numa_nodes.size());
  std::iota(nodes.begin(), nodes.end(), 0);
  // `from` comes first even where memory without processors claims to be as near.
  std::stable_sort(nodes.begin(), nodes.end(), [&](int a, int b) {
    if ((a == from) != (b == from)) return a == from;
    return distance(m, from, a) < distance(m, from, b);
  });
  return nodes;
}

const cache* last_level_cache(const machine& m, int core) {
  const cache* last = nullptr;
  for (const cache& c : m.caches) {
    if (c.cpus.includes(m.cores.at(core).cpus) && (last == nullptr || c.level > last->level)) last = &c;
  }
  return last;
}

std::vector<int> cores_within(const machine& m, const cpu_set& cpus) {
  std::vector<int> found;
  for (std::size_t i = 0; i < m.cores.size(); ++i) {
    if (m.cores[i].cpus.intersects(cpus)) found.push_back(static_cast<int>(i));
  }
  return found;
}

}  // namespace weft::topology
