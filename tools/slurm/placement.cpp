// SPDX-License-Identifier: Apache-2.0
#include "placement.hpp"

#include <algorithm>
#include <weft/runtime/error.hpp>
#include <weft/topology/placement.hpp>

namespace weft::tools {
namespace {

using topology::cpu_set;

/// Slurm's hexadecimal mask "0x3c"; the empty set for anything else.
cpu_set read_mask(std::string_view text) {
  if (!text.starts_with("0x")) return {};
  text.remove_prefix(2);
  cpu_set cpus;
  for (std::size_t digit = 0; digit < text.size(); ++digit) {
    const std::size_t value = std::string_view("0123456789abcdef").find(text[text.size() - 1 - digit] | 0x20);
    if (value == std::string_view::npos) return {};
    for (int bit = 0; bit < 4; ++bit)
      if ((value >> bit & 1) != 0) cpus.insert(static_cast<int>(digit) * 4 + bit);
  }
  return cpus;
}

cpu_set united(std::span<const cpu_set> sets) {
  cpu_set all;
  for (const cpu_set& each : sets) all = all | each;
  return all;
}

[[noreturn]] void throw_refused(int core, const std::string& why) {
  throw error(errc::invalid_argument, "--weft-progress-core=" + std::to_string(core) + ": " + why);
}

/// The cpus of the core that is to be kept.
cpu_set find_core(const topology::machine& machine, const cpu_set& granted, int core) {
  const auto cores = static_cast<int>(machine.cores.size());
  if (core >= cores)
    throw_refused(core, "this node has the cores 0 to " + std::to_string(cores - 1) + " (`weft info` shows them)");
  const cpu_set cpus = machine.cores[static_cast<std::size_t>(core)].cpus;
  if (!cpus.intersects(granted))
    throw_refused(core, "that is cpu " + to_string(cpus) + ", and Slurm granted the cpus " + to_string(granted));
  return cpus;
}

/// Places `tasks` processes that share what the machine gives.
std::vector<cpu_set> place_together(const topology::machine& machine, int tasks, int ranks_per_process,
                                    bool keep_for_progress) {
  const auto cores = static_cast<int>(topology::cores_within(machine, machine.given).size());
  const int kept = keep_for_progress ? std::clamp(cores - tasks, 0, tasks) : 0;
  const int each = std::clamp((cores - kept) / tasks, 1, ranks_per_process);
  if (tasks * each > cores) return std::vector<cpu_set>(static_cast<std::size_t>(tasks), machine.given);
  return topology::place(machine, tasks, topology::binding::core, each).cpus;
}

}  // namespace

std::vector<cpu_set> granted_cpus(const std::string& bind_type, const std::string& bind_list, int task, int tasks,
                                  const cpu_set& own) {
  std::vector<cpu_set> listed;
  for (std::string_view rest = bind_list; bind_type.starts_with("mask_cpu") && !rest.empty();) {
    const std::string_view mask = rest.substr(0, rest.find(','));
    listed.push_back(read_mask(mask));
    rest.remove_prefix(std::min(rest.size(), mask.size() + 1));
  }
  const auto at = [&](int t) { return listed[static_cast<std::size_t>(t) % listed.size()]; };
  std::vector<cpu_set> granted(static_cast<std::size_t>(tasks), own);
  if (listed.empty() || at(task) != own) return granted;
  for (int t = 0; t < tasks; ++t) granted[static_cast<std::size_t>(t)] = at(t);
  return granted;
}

std::vector<task_cpus> place_tasks(const topology::machine& machine, std::span<const cpu_set> granted,
                                   int ranks_per_process, const progress_choice& progress) {
  using kind = progress_choice::kind;
  const cpu_set all = united(granted) & machine.cpus;
  const cpu_set kept = progress.what == kind::core ? find_core(machine, all, progress.core) : cpu_set{};
  std::vector<task_cpus> placed(granted.size());
  for (std::size_t first = 0; first < granted.size(); ++first) {
    if (!placed[first].ranks.empty()) continue;
    std::vector<std::size_t> together;  // who was granted the same
    for (std::size_t t = first; t < granted.size(); ++t)
      if (granted[t] == granted[first]) together.push_back(t);
    topology::machine theirs = machine;
    theirs.given = (granted[first] & machine.cpus) - kept;
    if (theirs.given.empty())
      throw_refused(progress.core, "that is all that Slurm granted task " + std::to_string(first) +
                                       " of this node; ask for more with --cpus-per-task");
    const auto cpus =
        place_together(theirs, static_cast<int>(together.size()), ranks_per_process, progress.what == kind::automatic);
    for (std::size_t i = 0; i < together.size(); ++i) placed[together[i]].ranks = cpus[i];
  }
  if (progress.what == kind::core)
    for (task_cpus& each : placed) each.progress = cpu_set{(kept & all).first()};
  if (progress.what == kind::automatic) {
    std::vector<cpu_set> ranks;
    for (const task_cpus& each : placed) ranks.push_back(each.ranks);
    topology::machine node = machine;
    node.given = all;
    const auto chosen = topology::choose_progress_cores(node, ranks);
    for (std::size_t t = 0; t < placed.size(); ++t) placed[t].progress = chosen[t].cpus;
  }
  return placed;
}

}  // namespace weft::tools
