// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <weft/processes/start.hpp>
#include <weft/runtime/error.hpp>
#include <weft/topology/affinity.hpp>
#include <weft/topology/groups.hpp>

namespace weft::tools {
namespace {

/// The sets one behind the other: "0;1;2-3".
std::string listed(const std::vector<topology::cpu_set>& cpus) {
  std::string list;
  for (const topology::cpu_set& each : cpus) list += (list.empty() ? "" : ";") + to_string(each);
  return list;
}

/// As WEFT_PLACE says it.
std::string listed(const local_share& share, int process) {
  return std::to_string(process - share.processes.first) + "," + std::to_string(share.processes.count) + "," +
         std::to_string(share.host) + "," + std::to_string(share.hosts);
}

/// The cores that each of `processes` wants for its ranks, where there are so many.
int cores_each(const job_settings& settings, int processes, int cores) {
  if (settings.cpus_per_rank != 0)
    return static_cast<int>(
        std::min<std::int64_t>(std::int64_t{settings.cpus_per_rank} * settings.ranks_per_process, std::max(1, cores)));
  if (settings.ranks_per_process == 1) return 1;
  const int wanted = settings.workers != 0 ? settings.workers : std::max(1, cores / processes);
  return std::min(wanted, settings.ranks_per_process);
}

bool caller_progresses(const job_settings& settings) {
  const char* const variable = std::getenv("WEFT_PROGRESS");
  const std::string progress = settings.progress.empty() && variable != nullptr ? variable : settings.progress;
  return progress != "thread";
}

}  // namespace

int count_processes(const job_settings& settings) {
  return settings.ranks / settings.ranks_per_process + (settings.ranks % settings.ranks_per_process != 0 ? 1 : 0);
}

std::string ranks_of(const job_settings& settings, int process, const char* between) {
  const int first = process * settings.ranks_per_process;
  const int count = std::min(settings.ranks - first, settings.ranks_per_process);
  return std::to_string(first) + (count == 1 ? "" : between + std::to_string(first + count - 1));
}

std::size_t program_of(const job_settings& settings, int process) {
  std::size_t program = 0;
  while (program + 1 < settings.programs.size() && settings.programs[program + 1].first <= process) ++program;
  return program;
}

std::vector<std::string> find_exports(const std::vector<std::string>& exports) {
  std::map<std::string, std::string> found;
  for (const std::string& text : exports) {
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    const char* const here = std::getenv(name.c_str());
    if (equals != std::string::npos)
      found[name] = text.substr(equals + 1);
    else if (here != nullptr)
      found.emplace(name, here);
    else if (!found.contains(name))
      std::fprintf(stderr, "weft run: -x %s: no such variable is set here, so none is passed on\n", name.c_str());
  }
  std::vector<std::string> lines;
  for (const auto& [name, value] : found) lines.push_back(name + "=" + value);
  return lines;
}

std::vector<std::string> carried_environment() {
  std::vector<std::string> lines;
  for (char** line = environ; *line != nullptr; ++line)
    for (const std::string_view begin : {"WEFT_", "FI_", "PATH=", "LD_LIBRARY_PATH="})
      if (std::string_view(*line).starts_with(begin)) lines.emplace_back(*line);
  std::erase_if(lines, [](const std::string& line) { return line.starts_with("WEFT_ADDRESS="); });  // each has its own
  return lines;
}

std::vector<std::string> environment_of(const job_settings& settings, const local_share& share, int process,
                                        const std::vector<topology::cpu_set>& cpus) {
  std::map<std::string, std::string> variables;
  const auto add = [&](const std::string& line) {
    const std::size_t equals = line.find('=');
    if (equals != std::string::npos) variables[line.substr(0, equals)] = line.substr(equals + 1);
  };
  for (char** line = environ; *line != nullptr; ++line) add(*line);
  for (const std::string& line : settings.exports) add(line);
  for (const char* const of_another_launcher : {"WEFT_LAUNCHER", "WEFT_PROGRESS_CPUS"})
    variables.erase(of_another_launcher);
  if (!settings.provider.empty()) variables["WEFT_PROVIDER"] = settings.provider;
  if (!settings.topology.empty()) variables["WEFT_TOPOLOGY"] = settings.topology;
  if (!settings.progress.empty()) variables["WEFT_PROGRESS"] = settings.progress;
  variables["WEFT_RANKS"] = std::to_string(settings.ranks);
  variables["WEFT_RANKS_PER_PROCESS"] = std::to_string(settings.ranks_per_process);
  if (settings.workers != 0) variables["WEFT_WORKERS"] = std::to_string(settings.workers);
  variables["WEFT_JOB"] = std::to_string(share.job.number);
  variables["WEFT_PROCESS"] = std::to_string(process);
  variables["WEFT_PROCESSES"] = std::to_string(share.job.processes);
  variables["WEFT_STORE"] = share.store_address;
  variables["WEFT_SECRET"] = share.job.secret;
  variables["WEFT_PLACE"] = listed(share, process);
  variables["WEFT_GIVEN_CPUS"] = to_string(topology::this_thread_binding());
  variables["WEFT_BOUND_CPUS"] = listed(cpus);
  variables["WEFT_ROLL"] = share.roll_desk;
  std::vector<std::string> lines;
  for (const auto& [name, value] : variables) lines.push_back(name + "=" + value);
  return lines;
}

namespace {

/// "rank 0: cpus 0-3, cores 0-1": a line for each process.
std::vector<std::string> report_of(const job_settings& settings, process_range here, const topology::machine& machine,
                                   const std::vector<topology::cpu_set>& cpus) {
  std::vector<std::string> lines;
  for (int i = 0; i < here.count; ++i) {
    const std::string ranks = ranks_of(settings, here.first + i, "-");
    const bool one = ranks.find('-') == std::string::npos;
    const topology::cpu_set& its = cpus.empty() ? machine.given : cpus[static_cast<std::size_t>(i)];
    topology::cpu_set cores;
    for (const int core : topology::cores_within(machine, its)) cores.insert(core);
    const int numa = topology::numa_node_of(machine, its);
    lines.push_back((one ? "rank " : "ranks ") + ranks + ": cpus " + to_string(its) + ", cores " + to_string(cores) +
                    (numa >= 0 ? ", NUMA node " + std::to_string(numa) : "") +
                    (cpus.empty()          ? ", not bound"
                     : machine.this_system ? ""
                                           : ", not bound: another machine is described"));
  }
  return lines;
}

}  // namespace

placement bindings(const job_settings& settings, process_range here) {
  const topology::machine machine = topology::discover_processors();
  const auto cores = static_cast<int>(topology::cores_within(machine, machine.given).size());
  const int end = std::min((here.first + here.count) * settings.ranks_per_process, settings.ranks);
  const int ranks = end - here.first * settings.ranks_per_process;
  placement result;
  const int of_rank = std::max(1, settings.cpus_per_rank);
  if (ranks > cores / of_rank && !settings.oversubscribe)
    result.warning = std::to_string(ranks) + " ranks" +
                     (of_rank == 1 ? "" : " of " + std::to_string(of_rank) + " cores (--cpus-per-rank)") + " share " +
                     std::to_string(cores) + " core" + (cores == 1 ? "" : "s") +
                     " and will take turns (--oversubscribe: it is meant so)";
  const int each = cores_each(settings, here.count, cores);
  const bool room = here.count <= cores / each && caller_progresses(settings);
  const auto by = settings.bind_to.value_or(room ? topology::binding::core : topology::binding::none);
  std::vector<topology::cpu_set> cpus;
  if (by != topology::binding::none) cpus = topology::place(machine, here.count, by, each, settings.map_by).cpus;
  if (settings.report_bindings) result.report = report_of(settings, here, machine, cpus);
  if (machine.this_system) result.cpus = std::move(cpus);
  return result;
}

}  // namespace weft::tools
