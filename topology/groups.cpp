// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <weft/topology/groups.hpp>

namespace weft::topology {
namespace {

cpu_set domain_of(const machine& m, int core, sharing what) {
  if (what == sharing::last_level_cache) {
    const cache* last = last_level_cache(m, core);
    return last != nullptr ? last->cpus : m.cores[core].cpus;
  }
  const int node = m.cores[core].numa_node;
  return node >= 0 ? m.numa_nodes[node].cpus : m.cores[core].cpus;
}

}  // namespace

std::vector<cpu_set> domains(const machine& m, sharing what) {
  std::vector<cpu_set> found;
  cpu_set covered;
  for (std::size_t i = 0; i < m.cores.size(); ++i) {
    if (covered.intersects(m.cores[i].cpus)) continue;
    found.push_back(domain_of(m, static_cast<int>(i), what) - covered);
    covered = covered | found.back();
  }
  return found;
}

int numa_node_of(const machine& m, const cpu_set& cpus) {
  const cpu_set known = cpus & m.cpus;
  if (known.empty()) return -1;
  const auto found = std::find_if(m.numa_nodes.begin(), m.numa_nodes.end(),
                                  [&](const numa_node& each) { return each.cpus.includes(known); });
  return found == m.numa_nodes.end() ? -1 : found->os_index;
}

std::vector<std::vector<int>> group_ranks(const machine& m, std::span<const cpu_set> bindings, sharing what) {
  const std::vector<cpu_set> near = domains(m, what);
  std::vector<std::vector<int>> groups;
  std::vector<int> roaming;
  std::map<std::size_t, std::size_t> group_of_domain;
  for (std::size_t rank = 0; rank < bindings.size(); ++rank) {
    const auto domain =
        std::find_if(near.begin(), near.end(), [&](const cpu_set& d) { return d.includes(bindings[rank]); });
    if (domain == near.end() || bindings[rank].empty()) {
      roaming.push_back(static_cast<int>(rank));
      continue;
    }
    const auto [place, fresh] = group_of_domain.try_emplace(domain - near.begin(), groups.size());
    if (fresh) groups.emplace_back();
    groups[place->second].push_back(static_cast<int>(rank));
  }
  if (!roaming.empty()) groups.push_back(std::move(roaming));
  return groups;
}

}  // namespace weft::topology
