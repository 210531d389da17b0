// SPDX-License-Identifier: Apache-2.0
#include "job.hpp"

#include <charconv>
#include <sstream>
#include <weft/runtime/error.hpp>

namespace weft::tools {
namespace {

constexpr int most_ranks = 1'000'000;

/// The whole text as a number of at least `least`; -1 for anything else.
int whole_number(const std::string& text, int least) {
  int number = -1;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failure == std::errc{} && end == text.data() + text.size() && number >= least ? number : -1;
}

}  // namespace

progress_choice read_progress_choice(const std::string& text) {
  if (text == "none") return {};
  if (text == "auto") return {progress_choice::kind::automatic, -1};
  const int core = whole_number(text, 0);
  if (core < 0)
    throw error(errc::invalid_argument, "--weft-progress-core=" + text +
                                            ": auto, none or the number of a core, as `weft info` has it, is needed");
  return {progress_choice::kind::core, core};
}

std::string to_string(const progress_choice& choice) {
  if (choice.what == progress_choice::kind::core) return std::to_string(choice.core);
  return choice.what == progress_choice::kind::none ? "none" : "auto";
}

int read_ranks_per_process(const std::string& text) {
  const int ranks = whole_number(text, 1);
  if (ranks < 1 || ranks > most_ranks)
    throw error(errc::invalid_argument, "--weft-ranks-per-process=" + text + ": a whole number from 1 to " +
                                            std::to_string(most_ranks) + " is needed");
  return ranks;
}

const std::string& address_for(const slurm_job& job, const std::string& node) {
  for (const auto& [name, address] : job.addresses)
    if (name.empty() || name == node) return address;
  throw error(errc::protocol, "srun says no address of the job's rendezvous for node " + node);
}

std::string to_string(const slurm_job& job) {
  std::string text = std::to_string(job.identity.number) + " " + std::to_string(job.identity.processes) + " " +
                     job.identity.secret + " " + std::to_string(job.ranks_per_process) + " " + to_string(job.progress);
  for (const auto& [node, address] : job.addresses) text += " " + node + "=" + address;
  return text;
}

slurm_job read_slurm_job(const std::string& text) {
  std::istringstream words(text);
  slurm_job job;
  std::string progress;
  words >> job.identity.number >> job.identity.processes >> job.identity.secret >> job.ranks_per_process >> progress;
  bool whole = true;
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    whole = whole && equals != std::string::npos;
    if (whole) job.addresses.push_back({word.substr(0, equals), word.substr(equals + 1)});
  }
  if (!whole || job.addresses.empty() || job.identity.processes < 1 || job.ranks_per_process < 1)
    throw error(errc::protocol, std::string(slurm_job_variable) +
                                    " is not what srun's plugin of weft sets it to: is "
                                    "the plugin of this node that of srun's build?");
  job.progress = read_progress_choice(progress);
  return job;
}

std::vector<std::pair<std::string, std::string>> environment_of(const slurm_job& job, const task_place& task) {
  const auto number = [](auto value) { return std::to_string(value); };
  const long long ranks = static_cast<long long>(job.identity.processes) * job.ranks_per_process;
  std::vector<std::pair<std::string, std::string>> variables{
      {"WEFT_LAUNCHER", "srun --weft"},
      {"WEFT_JOB", number(job.identity.number)},
      {"WEFT_PROCESS", number(task.process)},
      {"WEFT_PROCESSES", number(job.identity.processes)},
      {"WEFT_STORE", address_for(job, task.node_name)},
      {"WEFT_SECRET", job.identity.secret},
      {"WEFT_RANKS", number(ranks)},
      {"WEFT_RANKS_PER_PROCESS", number(job.ranks_per_process)},
      {"WEFT_PLACE",
       number(task.on_node) + "," + number(task.of_node) + "," + number(task.node) + "," + number(task.nodes)},
      {"WEFT_GIVEN_CPUS", task.given_cpus}};
  if (!task.progress_cpus.empty()) {
    variables.emplace_back("WEFT_PROGRESS", "thread");
    variables.emplace_back("WEFT_PROGRESS_CPUS", task.progress_cpus);
  }
  return variables;
}

}  // namespace weft::tools
