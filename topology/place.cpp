// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <weft/runtime/error.hpp>
#include <weft/topology/groups.hpp>
#include <weft/topology/placement.hpp>

namespace weft::topology {
namespace {

// Consecutive entries of the list of cores that may be used.
struct stretch {
  int first;
  int count;
};

// Process i starts at the i-th of equal shares of the cores. Cores that are near each other stand near each other, so
// this spreads over NUMA nodes and caches alike; with more processes than cores, neighbours share one.
std::vector<stretch> even_shares(int cores, int processes, int cores_each) {
  std::vector<stretch> shares;
  for (std::int64_t i = 0; i < processes; ++i) {
    const int first = static_cast<int>(i * cores / processes);
    const int next = static_cast<int>((i + 1) * cores / processes);
    shares.push_back({first, std::clamp(next - first, 1, cores_each)});
  }
  return shares;
}

// As many stretches of `cores_each` as there are, one behind the other, none across the borders between `areas`.
std::vector<stretch> within(const std::vector<cpu_set>& areas, const machine& m, const std::vector<int>& cores,
                            int cores_each) {
  std::vector<stretch> found;
  stretch open{0, 0};
  const cpu_set* current = nullptr;
  for (int i = 0; i < static_cast<int>(cores.size()); ++i) {
    const auto area = std::find_if(areas.begin(), areas.end(),
                                   [&](const cpu_set& a) { return a.intersects(m.cores[cores[i]].cpus); });
    if (&*area != current) open = {i, 0};
    current = &*area;
    if (++open.count == cores_each) {
      found.push_back(open);
      open = {i + 1, 0};
    }
  }
  return found;
}

std::vector<stretch> compact(const machine& m, const std::vector<int>& cores, int processes, int cores_each) {
  for (const auto& areas :
       {domains(m, sharing::last_level_cache), domains(m, sharing::numa_node), std::vector<cpu_set>{m.cpus}}) {
    std::vector<stretch> found = within(areas, m, cores, cores_each);
    if (static_cast<int>(found.size()) < processes) continue;
    found.resize(processes);
    return found;
  }
  return {};  // not reached: the caller has seen that there are cores enough
}

cpu_set confines(const machine& m, const std::vector<int>& cores, stretch own, binding by) {
  if (by == binding::none) return m.given;
  cpu_set cpus;
  for (int i = own.first; i < own.first + own.count; ++i) {
    const core& c = m.cores[cores[i]];
    if (by == binding::core) {
      cpus = cpus | c.cpus;
    } else {
      cpus = cpus | (c.numa_node < 0 ? m.cpus : m.numa_nodes[c.numa_node].cpus);
    }
  }
  return cpus & m.given;
}

}  // namespace

placement place(const machine& m, int processes, binding by, int cores_each, order in) {
  if (processes < 1 || cores_each < 1) {
    throw error(errc::invalid_argument, "placing " + std::to_string(processes) + " processes of " +
                                            std::to_string(cores_each) + " cores each: both must be at least 1");
  }
  const std::vector<int> cores = cores_within(m, m.given);
  if (cores.empty()) {
    throw error(errc::invalid_argument, "placing processes: of the machine's cpus " + to_string(m.cpus) +
                                            " none was given (given: \"" + to_string(m.given) + "\")");
  }
  const int available = static_cast<int>(cores.size());
  placement result;
  result.oversubscribed = static_cast<std::int64_t>(processes) * cores_each > available;
  const bool evenly = result.oversubscribed || in == order::spread;
  for (stretch own :
       evenly ? even_shares(available, processes, cores_each) : compact(m, cores, processes, cores_each)) {
    result.cpus.push_back(confines(m, cores, own, by));
  }
  return result;
}

}  // namespace weft::topology
