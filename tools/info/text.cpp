// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <sstream>

#include "report.hpp"

namespace weft::tools {
namespace {

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

/// A heading or a continuation of the part above, in a column of its own.
std::string label(const std::string& text) { return padded(text, 17); }

std::string bytes(std::uint64_t count) {
  if (count == 0) return "unknown size";
  const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (unit < 4 && count >= 10240) count = (count + 512) / 1024, ++unit;
  return std::to_string(count) + " " + units[unit];
}

std::string or_none(const topology::cpu_set& cpus) { return cpus.empty() ? "none" : to_string(cpus); }

void write_provider(std::ostream& out, const info_report& report) {
  out << label("provider");
  if (!report.provider_failure.empty()) {
    out << "NONE: " << report.provider_failure << '\n';
    return;
  }
  out << report.provider;
  for (const auto& one : report.candidates)
    if (one.rejected.empty()) out << " on " << one.domain << (one.address.empty() ? "" : " " + one.address);
  out << " (" << report.provider_reason << ")\n";
}

void write_interface(std::ostream& out, const info_report& report) {
  out << label("interface");
  if (report.interface_failure.empty())
    out << report.interface << " between nodes (" << report.interface_reason << ")\n";
  else
    out << "NONE between nodes: " << report.interface_failure << '\n';
}

void write_node_memory(std::ostream& out, const info_report& report) {
  out << label("node memory");
  if (!report.node)
    out << "not used: WEFT_NODE=off\n";
  else if (!report.arena.refusal.empty())
    out << "NONE, processes of a node talk over the network: " << report.arena.refusal << '\n';
  else
    out << bytes(report.arena.bytes_of_process) << " for each process of a node\n";
}

/// The ten lines that matter.
void write_summary(std::ostream& out, const info_report& report) {
  const topology::machine& m = report.machine;
  out << label("weft") << report.version << ", commit " << report.commit << '\n';
  out << label("build") << report.compiler << ", " << report.build_type << '\n';
  out << label("instruction set") << report.instruction_set << '\n';
  out << label("libfabric") << (report.libfabric.empty() ? "NONE" : report.libfabric) << '\n';
  write_provider(out, report);
  write_interface(out, report);
  write_node_memory(out, report);
  out << label("cores") << topology::cores_within(m, m.given).size() << " given to this process, cpus "
      << or_none(m.given) << ", of " << m.cores.size() << '\n';
  out << label("launchers") << report.launchers << '\n';
  out << label("launcher") << (report.launcher.empty() ? "none" : report.launcher) << ": " << report.launcher_detail
      << '\n';
}

void write_candidates(std::ostream& out, const info_report& report) {
  for (const auto& one : report.candidates)
    if (!one.rejected.empty())
      out << label("  rejected") << padded(one.provider, 14) << ' '
          << padded(one.domain + (one.address.empty() ? "" : " " + one.address), 30) << "  " << one.rejected << '\n';
}

std::string joined(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& each : words) all += (all.empty() ? "" : ", ") + each;
  return all;
}

void write_networks(std::ostream& out, const info_report& report, bool providers) {
  out << label("networks");
  if (report.provider_failure.empty())
    out << "no proof of the job's secret on data ports: who reaches one may end its rank;\n"
        << label("") << "--interface keeps them on a network\n";
  else
    out << "none\n";
  if (!report.provider_warning.empty()) out << label("  warning") << report.provider_warning << '\n';
  if (providers) write_candidates(out, report);
  if (!report.links.empty())
    out << label("links") << "side by side, if their subnets are those of all hosts of a job: " << joined(report.links)
        << '\n';
  for (const auto& one : report.interfaces)
    if (to_string(one.is) != report.interface)
      out << label(one.rejected.empty() ? "  possible" : "  rejected") << padded(to_string(one.is), 30) << "  "
          << one.rejected << '\n';
}

void write_arena(std::ostream& out, const info_report& report) {
  const fabric::arena_trial& arena = report.arena;
  if (!report.node || !arena.refusal.empty()) return;
  out << label("arrays in memory");
  if (arena.heap_refusal.empty())
    out << "up to " << bytes(std::min<std::uint64_t>(arena.heap_bytes, arena.memory_left))
        << " for each process: " << (arena.heap_bytes < arena.memory_left ? "its addresses" : arena.memory_limit)
        << '\n';
  else
    out << "NONE, arrays are each process's own: " << arena.heap_refusal << '\n';
  out << label("  long vectors")
      << (arena.reading_refusal.empty() ? "in pieces through it, or read from each other's memory (process_vm_readv "
                                          "works) where that is measured "
                                          "to be the faster at a start: `weft bench` says single-copy there"
                                        : "in pieces through it: " + arena.reading_refusal)
      << '\n';
}

/// Like caches stand in one line.
void write_caches(std::ostream& out, const std::vector<topology::cache>& caches) {
  const auto alike = [](const topology::cache& a, const topology::cache& b) {
    return a.level == b.level && a.size == b.size && a.cpus.size() == b.cpus.size();
  };
  for (auto first = caches.begin(); first != caches.end();) {
    const auto end = std::find_if_not(first, caches.end(), [&](const auto& cache) { return alike(*first, cache); });
    out << label("  caches") << end - first << " x L" << first->level << " of " << bytes(first->size) << ", "
        << first->cpus.size() << (first->cpus.size() == 1 ? " cpu" : " cpus") << " each\n";
    first = end;
  }
}

void write_machine(std::ostream& out, const topology::machine& m) {
  out << label("machine") << m.cores.size() << " cores, cpus " << or_none(m.cpus)
      << (m.this_system ? "" : " (a description, not the machine that we run on)") << '\n';
  out << label("  cpus given") << or_none(m.given) << ", allowed " << or_none(m.allowed) << '\n';
  for (const auto& node : m.numa_nodes)
    out << label("  NUMA node") << node.os_index << ": cpus " << or_none(node.cpus) << ", " << bytes(node.memory)
        << '\n';
  write_caches(out, m.caches);
  for (const auto& device : m.network_devices)
    out << label("  network") << device.name << ", " << name(device.kind)
        << (device.pci.empty() ? "" : ", " + device.pci) << ", near cpus " << or_none(device.near) << '\n';
}

void write_options(std::ostream& out, const std::vector<option_listing>& options) {
  out << "\noptions (--weft-NAME=VALUE over the environment over the default)\n";
  for (const auto& option : options)
    out << "  " << padded(variable_of(option.name), 24) << ' '
        << padded(option.value.empty() ? "(empty)" : option.value, 18) << ' ' << padded(option.origin, 22) << ' '
        << option.help << '\n';
}

}  // namespace

std::string to_text(const info_report& report, bool providers) {
  std::ostringstream out;
  write_summary(out, report);
  out << '\n';
  write_networks(out, report, providers);
  write_arena(out, report);
  write_machine(out, report.machine);
  out << label("progress core")
      << (report.progress.core < 0
              ? "none"
              : "core " + std::to_string(report.progress.core) + ", cpu " + or_none(report.progress.cpus))
      << ": " << report.progress.reason << '\n';
  write_options(out, report.options);
  return out.str();
}

}  // namespace weft::tools
