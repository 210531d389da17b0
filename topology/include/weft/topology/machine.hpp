// SPDX-License-Identifier: Apache-2.0
// One machine (a node of the job) as plain values: what hwloc knows of it that weft needs, and nothing of hwloc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>
#include <weft/topology/cpu_set.hpp>

namespace weft::topology {

struct numa_node {
  int os_index = 0;
  cpu_set cpus;              ///< empty for memory without processors
  std::uint64_t memory = 0;  ///< bytes; 0 when the description does not say
  /// Relative latency to each of machine::numa_nodes, in their order, 10 being local memory (ACPI's SLIT); empty when
  /// the machine does not say. Read it by `distance`, which then assumes Linux' values.
  std::vector<int> distances;
};

/// A data or unified cache; instruction caches are left out.
struct cache {
  int level = 0;
  std::uint64_t size = 0;  ///< bytes
  cpu_set cpus;            ///< the cpus that share it
};

/// A physical core. Its number is its index in machine::cores, where cores that are near each other stand near each
/// other (hwloc's logical order): the kernel numbers cores anew in each package.
struct core {
  cpu_set cpus;   ///< its hardware threads
  int numa_node;  ///< index in machine::numa_nodes; -1: near none in particular
};

enum class network_kind {
  ethernet,
  infiniband,  ///< the IP interface of an InfiniBand or Omni-Path port (ib0)
  verbs,       ///< the device that libfabric's fast providers name as their domain (mlx5_0, usnic_0, hfi1_0)
  other,
};

struct network_device {
  std::string name;  ///< "eth0", "mlx5_0"
  network_kind kind = network_kind::other;
  std::string pci;     ///< "0000:81:00.0"; devices of one NIC share it; empty: not on PCI
  cpu_set near;        ///< cpus nearest to it; every cpu of the machine when nothing is known
  int numa_node = -1;  ///< index in machine::numa_nodes; -1: near none in particular
};

struct machine {
  bool this_system = false;  ///< it is the machine that we run on: binding to its cpus means something
  std::vector<numa_node> numa_nodes;
  std::vector<cache> caches;  ///< level by level from the first; neighbours stand side by side
  std::vector<core> cores;
  std::vector<network_device> network_devices;
  cpu_set cpus;     ///< every cpu that is online
  cpu_set allowed;  ///< those of them that the administrator (a cgroup) lets us use: no binding leads out of these
  /// The cpus that we were given: `allowed`, cut down to the affinity mask that we started with. A launcher that binds
  /// the processes tells them what it was itself given, and they set this to it.
  cpu_set given;
};

/// The machine that we run on; `given` comes from the mask of the calling thread, so call it before that thread is
/// bound. hwloc's own environment variables work, HWLOC_XMLFILE among them (`this_system` is then false). Reads files,
/// some ten milliseconds. Throws weft::error when hwloc finds nothing.
machine discover();

/// The same without network devices, for which hwloc looks at all that is plugged in: in a fifth of the time.
machine discover_processors();

/// The machine that hwloc described in an XML file (`lstopo machine.xml`). Throws weft::error that names the file and
/// the reason when it cannot be read or is not such a description.
machine load_xml(const std::string& path);

/// The machine of hwloc's short notation, "package:2 l3:1 core:4 pu:2". Throws errc::invalid_argument for any other
/// text.
machine load_synthetic(const std::string& description);

/// Relative latency from one NUMA node to another's memory (indices in numa_nodes): what the machine says, else 10 at
/// home and 20 elsewhere.
int distance(const machine& m, int from, int to);

/// All NUMA nodes (indices), by their distance from `from`, that one first; equally far ones in the machine's order.
std::vector<int> nearest_numa_nodes(const machine& m, int from);

/// The largest cache of a core (index in cores): the one of the highest level. Null when none is known; valid as long
/// as the machine's caches stay.
const cache* last_level_cache(const machine& m, int core);

/// Indices of the cores that have at least one cpu among `cpus`, ascending.
std::vector<int> cores_within(const machine& m, const cpu_set& cpus);

}  // namespace weft::topology
