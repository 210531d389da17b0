// SPDX-License-Identifier: Apache-2.0
#include "layout.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <vector>
#include <weft/runtime/progress.hpp>
#include <weft/topology/machine.hpp>

namespace weft::tools {
namespace {

/// One hardware thread of each core that the job was given.
std::vector<int> given_cpus() {
  const topology::machine machine = topology::discover_processors();
  topology::cpu_set given = machine.given;
  if (const char* const of_job = std::getenv("WEFT_GIVEN_CPUS"))
    given = topology::cpu_set::parse(of_job) & machine.allowed;
  std::vector<int> cpus;
  for (const int core : topology::cores_within(machine, given))
    cpus.push_back((machine.cores[static_cast<std::size_t>(core)].cpus & given).first());
  return cpus;
}

topology::cpu_set range(const std::vector<int>& cpus, std::size_t from, std::size_t to) {
  topology::cpu_set result;
  for (std::size_t i = from; i < to; ++i) result.insert(cpus[i]);
  return result;
}

}  // namespace

core_layout lay_out(int process, int processes) {
  const std::vector<int> cpus = given_cpus();
  const auto mine = static_cast<std::size_t>(process), all = static_cast<std::size_t>(processes);
  if (cpus.size() < 2)
    throw std::runtime_error(
        "weft bench: this takes two cores, one for the ranks and one for progress threads; there is " +
        std::to_string(cpus.size()));
  if (cpus.size() >= 2 * all)
    return {range(cpus, mine, mine + 1), range(cpus, all + mine, all + mine + 1), range(cpus, 0, all),
            "each process's ranks on a cpu of their own of " + to_string(range(cpus, 0, all)) +
                ", each progress thread on one of " + to_string(range(cpus, all, 2 * all))};
  const std::size_t half = cpus.size() / 2;
  core_layout shared{range(cpus, 0, half), range(cpus, half, cpus.size()), range(cpus, 0, half), ""};
  shared.described = "the ranks of all " + std::to_string(processes) + " processes share cpus " +
                     to_string(shared.ranks) + ", the progress threads cpus " + to_string(shared.progress);
  return shared;
}

std::int64_t progress_thread_time() {
  std::int64_t total = 0;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::int64_t time = 0;
    std::getline(std::ifstream(thread.path() / "comm") >> std::ws, name);
    if (name == progress::thread_name && std::ifstream(thread.path() / "schedstat") >> time) total += time;
  }
  return total;
}

}  // namespace weft::tools
