// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <tuple>
#include <weft/topology/placement.hpp>

namespace weft::topology {
namespace {

// Who is on the hardware threads beside a free one, the better first.
enum class neighbours { none, progress_thread, ranks };

struct candidate {
  int core;
  int cpu;
  neighbours beside;
  int distance;  // to the ranks: 0 shares their cache, 1 their NUMA node, else NUMA latency (above 10); -1: no ranks
  bool far_from_nic;
  bool takes_interrupts;

  auto rank() const { return std::tuple(beside, distance, far_from_nic, takes_interrupts, core); }
};

// What is taken on the machine, and by whom.
struct occupancy {
  cpu_set ranks;
  cpu_set progress_threads;
};

// Smaller is faster.
int slowness(network_kind kind) {
  switch (kind) {
    case network_kind::verbs:
    case network_kind::infiniband:
      return 0;
    case network_kind::ethernet:
      return 1;
    case network_kind::other:
      return 2;
  }
  return 2;
}

// The devices to be near to. One that is as near to every cpu has no say.
std::vector<const network_device*> devices_in_use(const machine& m, std::string_view nic) {
  std::vector<const network_device*> all, fastest;
  for (const network_device& d : m.network_devices) {
    if (d.name == nic) return d.near == m.cpus ? all : std::vector{&d};
    if (d.near != m.cpus) all.push_back(&d);
  }
  for (const network_device* d : all) {
    if (!fastest.empty() && slowness(d->kind) > slowness(fastest.front()->kind)) continue;
    if (!fastest.empty() && slowness(d->kind) < slowness(fastest.front()->kind)) fastest.clear();
    fastest.push_back(d);
  }
  return fastest;
}

const network_device* device_near(const std::vector<const network_device*>& devices, const core& c) {
  const auto found =
      std::find_if(devices.begin(), devices.end(), [&](const network_device* d) { return d->near.intersects(c.cpus); });
  return found == devices.end() ? nullptr : *found;
}

int distance_to_ranks(const machine& m, int core, const cpu_set& ranks) {
  const cache* last = last_level_cache(m, core);
  const int node = m.cores[core].numa_node;
  int nearest = ranks.empty() ? -1 : 255;  // 255: unreachable, in ACPI's table
  for (int other : cores_within(m, ranks)) {
    const int home = m.cores[other].numa_node;
    if (home != node) {
      if (home >= 0 && node >= 0) nearest = std::min(nearest, std::max(distance(m, home, node), 11));
    } else {
      nearest = std::min(nearest, last != nullptr && last->cpus.intersects(m.cores[other].cpus) ? 0 : 1);
    }
  }
  return nearest;
}

std::optional<candidate> best_candidate(const machine& m, const cpu_set& ranks, const occupancy& taken,
                                        const std::vector<const network_device*>& devices) {
  std::optional<candidate> best;
  for (int i : cores_within(m, m.given)) {
    const core& c = m.cores[i];
    const cpu_set free = (c.cpus & m.given) - taken.ranks - taken.progress_threads;
    if (free.empty()) continue;
    const neighbours beside = c.cpus.intersects(taken.ranks)              ? neighbours::ranks
                              : c.cpus.intersects(taken.progress_threads) ? neighbours::progress_thread
                                                                          : neighbours::none;
    const bool far_from_nic = !devices.empty() && device_near(devices, c) == nullptr;
    const candidate now{i, free.first(), beside, distance_to_ranks(m, i, ranks), far_from_nic, c.cpus.contains(0)};
    if (!best || now.rank() < best->rank()) best = now;
  }
  return best;
}

std::string explain(const machine& m, const candidate& chosen, const std::vector<const network_device*>& devices) {
  const core& c = m.cores[chosen.core];
  std::string why = "core " + std::to_string(chosen.core) + " (cpu " + std::to_string(chosen.cpu) + "): ";
  switch (chosen.beside) {
    case neighbours::none:
      why += "outside the cores of the ranks";
      break;
    case neighbours::progress_thread:
      why += "beside another progress thread, since no whole core is free";
      break;
    case neighbours::ranks:
      why += "a free hardware thread of a rank's core, since no whole core is free";
      break;
  }
  if (chosen.distance == 0) {
    const cache* last = last_level_cache(m, chosen.core);
    if (last != nullptr) why += ", shares L" + std::to_string(last->level) + " with them";
  } else if (chosen.distance == 1) {
    why += ", in their NUMA node but not behind their cache";
  } else if (chosen.distance > 10 && c.numa_node >= 0) {
    why += ", on NUMA node " + std::to_string(m.numa_nodes[c.numa_node].os_index) + " at distance " +
           std::to_string(chosen.distance) + " from them, since nothing nearer is free";
  }
  if (const network_device* near = device_near(devices, c)) {
    why += ", nearest to NIC " + near->name;
  } else if (!devices.empty()) {
    why += ", though far from NIC " + devices.front()->name + " (its cpus: " + to_string(devices.front()->near) + ")";
  }
  return why;
}

std::string explain_none(const cpu_set& ranks, const occupancy& taken) {
  const std::string others = taken.progress_threads.empty() ? "" : " or another progress thread";
  return "every core that this process was given runs a rank" + others + ": the progress thread shares cpus " +
         to_string(ranks) + " with the ranks";
}

}  // namespace

progress_core choose_progress_core(const machine& m, const cpu_set& used_by_ranks_here, std::string_view nic) {
  return choose_progress_cores(m, std::span(&used_by_ranks_here, 1), nic).front();
}

std::vector<progress_core> choose_progress_cores(const machine& m, std::span<const cpu_set> processes,
                                                 std::string_view nic) {
  const std::vector<const network_device*> devices = devices_in_use(m, nic);
  occupancy taken;
  for (const cpu_set& ranks : processes) taken.ranks = taken.ranks | ranks;

  std::vector<progress_core> chosen;
  for (const cpu_set& ranks : processes) {
    if (const auto best = best_candidate(m, ranks, taken, devices)) {
      chosen.push_back({best->core, {best->cpu}, explain(m, *best, devices)});
      taken.progress_threads.insert(best->cpu);
    } else {
      chosen.push_back({-1, {}, explain_none(ranks, taken)});
    }
  }
  return chosen;
}

}  // namespace weft::topology
