// SPDX-License-Identifier: Apache-2.0
// The one file that knows hwloc: it turns hwloc's tree into a `machine`.
#include <fcntl.h>
#include <hwloc.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <type_traits>
#include <weft/runtime/error.hpp>
#include <weft/topology/affinity.hpp>
#include <weft/topology/machine.hpp>

namespace weft::topology {
namespace {

struct destroy_topology {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using topology_handle = std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, destroy_topology>;

// A topology that still has to be told where to look. Disallowed cpus are wanted too: a core whose other hardware
// thread belongs to somebody else is not a core of our own.
topology_handle new_topology(bool with_devices = true) {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) throw_system_error(errno, "hwloc_topology_init", "looking at the machine");
  topology_handle topology(raw);
  hwloc_topology_set_flags(raw, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  if (with_devices) hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  // Drivers of graphics devices may take seconds to wake up, and nothing here asks about them; without the component
  // pci, whose library leaks, hwloc reads the same from /sys. Fails for what this hwloc was built without, which is as
  // well.
  for (const char* component : {"cuda", "gl", "levelzero", "nvml", "opencl", "pci", "rsmi"}) {
    hwloc_topology_set_components(raw, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, component);
  }
  return topology;
}

cpu_set read_cpus(hwloc_const_cpuset_t from) {
  cpu_set cpus;
  for (int cpu = hwloc_bitmap_first(from); cpu != -1; cpu = hwloc_bitmap_next(from, cpu)) cpus.insert(cpu);
  return cpus;
}

std::vector<numa_node> read_numa_nodes(hwloc_topology_t topology) {
  std::vector<numa_node> nodes;
  for (hwloc_obj_t o = nullptr; (o = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, o)) != nullptr;) {
    nodes.push_back({static_cast<int>(o->os_index), read_cpus(o->cpuset), o->attr->numanode.local_memory, {}});
  }
  unsigned count = 1;
  hwloc_distances_s* matrix = nullptr;
  if (hwloc_distances_get_by_name(topology, "NUMALatency", &count, &matrix, 0) != 0 || count == 0) return nodes;
  // A matrix that leaves nodes out is worth no more than none.
  if (matrix->nbobjs == nodes.size()) {
    for (unsigned from = 0; from < matrix->nbobjs; ++from) {
      std::vector<int>& row = nodes.at(matrix->objs[from]->logical_index).distances;
      row.resize(nodes.size());
      for (unsigned to = 0; to < matrix->nbobjs; ++to) {
        row.at(matrix->objs[to]->logical_index) = static_cast<int>(matrix->values[from * matrix->nbobjs + to]);
      }
    }
  }
  hwloc_distances_release(topology, matrix);
  return nodes;
}

std::vector<cache> read_caches(hwloc_topology_t topology) {
  std::vector<cache> caches;
  for (auto type : {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L5CACHE}) {
    for (hwloc_obj_t o = nullptr; (o = hwloc_get_next_obj_by_type(topology, type, o)) != nullptr;) {
      caches.push_back({static_cast<int>(o->attr->cache.depth), o->attr->cache.size, read_cpus(o->cpuset)});
    }
  }
  return caches;
}

// The tightest NUMA node around `cpus`, the first of equals: where fast memory shares its cpus with ordinary memory,
// hwloc lists the ordinary one first. -1 when none holds them all.
int home_of(const cpu_set& cpus, const std::vector<numa_node>& nodes) {
  int home = -1;
  for (std::size_t i = 0; i < nodes.size() && !cpus.empty(); ++i) {
    if (!nodes[i].cpus.includes(cpus)) continue;
    if (home < 0 || nodes[i].cpus.size() < nodes[home].cpus.size()) home = static_cast<int>(i);
  }
  return home;
}

std::vector<core> read_cores(hwloc_topology_t topology, const std::vector<numa_node>& nodes) {
  std::vector<core> cores;
  hwloc_obj_t previous = nullptr;
  for (hwloc_obj_t o = nullptr; (o = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, o)) != nullptr;) {
    // Virtual machines may show hardware threads without cores: each then counts as one.
    hwloc_obj_t holder = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, o);
    if (holder == nullptr) holder = o;
    if (holder == previous) continue;
    previous = holder;
    cpu_set cpus = read_cpus(holder->cpuset);
    const int home = home_of(cpus, nodes);
    cores.push_back({std::move(cpus), home});
  }
  return cores;
}

network_kind kind_of(hwloc_obj_t device) {
  if (device->attr->osdev.type == HWLOC_OBJ_OSDEV_OPENFABRICS) return network_kind::verbs;
  const char* address = hwloc_obj_get_info_by_name(device, "Address");
  if (address == nullptr) return network_kind::other;
  // Two digits an octet and colons between: 6 octets on Ethernet, 20 for IP over InfiniBand.
  switch (std::strlen(address)) {
    case 6 * 3 - 1:
      return network_kind::ethernet;
    case 20 * 3 - 1:
      return network_kind::infiniband;
    default:
      return network_kind::other;
  }
}

std::string pci_address_of(hwloc_obj_t device) {
  hwloc_obj_t o = device;
  while (o != nullptr && o->type != HWLOC_OBJ_PCI_DEVICE) o = o->parent;
  if (o == nullptr) return {};
  const auto& pci = o->attr->pcidev;
  char text[32];
  std::snprintf(text, sizeof text, "%04x:%02x:%02x.%x", static_cast<unsigned>(pci.domain), pci.bus, pci.dev, pci.func);
  return text;
}

std::vector<network_device> read_network(hwloc_topology_t topology, const std::vector<numa_node>& nodes) {
  std::vector<network_device> devices;
  for (hwloc_obj_t o = nullptr; (o = hwloc_get_next_osdev(topology, o)) != nullptr;) {
    const auto type = o->attr->osdev.type;
    if (type != HWLOC_OBJ_OSDEV_NETWORK && type != HWLOC_OBJ_OSDEV_OPENFABRICS) continue;
    network_device device;
    device.name = o->name != nullptr ? o->name : "";
    device.kind = kind_of(o);
    device.pci = pci_address_of(o);
    device.near = read_cpus(hwloc_get_non_io_ancestor_obj(topology, o)->cpuset);
    device.numa_node = home_of(device.near, nodes);
    devices.push_back(std::move(device));
  }
  return devices;
}

machine read(hwloc_topology_t topology) {
  machine m;
  m.this_system = hwloc_topology_is_thissystem(topology) != 0;
  m.numa_nodes = read_numa_nodes(topology);
  m.caches = read_caches(topology);
  m.cores = read_cores(topology, m.numa_nodes);
  m.network_devices = read_network(topology, m.numa_nodes);
  m.cpus = read_cpus(hwloc_topology_get_topology_cpuset(topology));
  m.allowed = read_cpus(hwloc_topology_get_allowed_cpuset(topology)) & m.cpus;
  m.given = m.allowed;
  return m;
}

// hwloc, asked to read a file that it cannot open, looks at the real machine instead: opening it first also tells why.
void check_readable(const std::string& path, const std::string& what) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw_system_error(errno, "open", what);
  char byte;
  const ssize_t got = ::read(file, &byte, 1);
  const int number = errno;
  close(file);
  if (got < 0) throw_system_error(number, "read", what);
  if (got == 0) throw error(errc::invalid_argument, what + ": the file is empty");
}

machine look_at_this_machine(bool with_devices) {
  // libudev, by which hwloc finds devices, writes to a key of its own without a lock.
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  const topology_handle topology = new_topology(with_devices);
  if (hwloc_topology_load(topology.get()) != 0) {
    throw_system_error(errno, "hwloc_topology_load", "looking at the machine");
  }
  machine m = read(topology.get());
  if (m.this_system) m.given = m.allowed & this_thread_binding();
  return m;
}

}  // namespace

machine discover() { return look_at_this_machine(true); }
machine discover_processors() { return look_at_this_machine(false); }

machine load_xml(const std::string& path) {
  const std::string what = "machine description " + path;
  check_readable(path, what);
  const topology_handle topology = new_topology();
  // Whether a malformed file fails at the first or at the second call depends on the XML parser that hwloc finds.
  if (hwloc_topology_set_xml(topology.get(), path.c_str()) != 0 || hwloc_topology_load(topology.get()) != 0) {
    throw error(
        errc::invalid_argument,
        what + ": not a whole XML file of hwloc's, as `lstopo machine.xml` writes it (" + std::strerror(errno) + ")");
  }
  return read(topology.get());
}

machine load_synthetic(const std::string& description) {
  const topology_handle topology = new_topology();
  const char* backend = nullptr;
  if (hwloc_topology_set_synthetic(topology.get(), description.c_str()) == 0 &&
      hwloc_topology_load(topology.get()) == 0) {
    backend = hwloc_obj_get_info_by_name(hwloc_get_root_obj(topology.get()), "Backend");
  }
  // hwloc falls back to the real machine without a word, and HWLOC_THISSYSTEM may claim anything for that: ask what it
  // read.
  if (backend == nullptr || std::strcmp(backend, "Synthetic") != 0) {
    throw error(errc::invalid_argument, "synthetic machine \"" + description +
                                            "\": hwloc cannot read it; one reads like package:2 l3:1 core:4 pu:2");
  }
  return read(topology.get());
}

}  // namespace weft::topology
