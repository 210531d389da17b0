// SPDX-License-Identifier: Apache-2.0
// Which cores, and which ranks, are close: they share a cache or a NUMA node.
#pragma once

#include <span>
#include <weft/topology/machine.hpp>

namespace weft::topology {

enum class sharing {
  last_level_cache,
  numa_node,
};

/// The machine cut into the sets of cpus that share a cache or NUMA node, in the order of its cores: disjoint, and
/// together all cpus (a core that shares nothing known stands alone).
std::vector<cpu_set> domains(const machine& m, sharing what);

/// The operating system's number of the NUMA node that `cpus` stay within; -1 where they are of several, or of none.
int numa_node_of(const machine& m, const cpu_set& cpus);

/// Ranks in groups, each rank (an index in `bindings`: the cpus that it may run on) in exactly one. Ranks are together
/// when each stays within the same domain; the ranks that are within none, since they may roam, form a last group of
/// their own. Ranks ascend within a group, and groups by their first rank but for that last one.
std::vector<std::vector<int>> group_ranks(const machine& m, std::span<const cpu_set> bindings, sharing what);

}  // namespace weft::topology
