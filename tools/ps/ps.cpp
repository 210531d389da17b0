// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <map>
#include <memory>
#include <vector>
#include <weft/command_line/command_line.hpp>
#include <weft/command_line/subcommands.hpp>
#include <weft/roll_call/ask.hpp>
#include <weft/roll_call/summary.hpp>
#include <weft/roll_call/take_roll.hpp>

namespace weft::tools {
namespace {

using namespace std::chrono_literals;

/// For a launcher to ask all hosts.
constexpr auto launcher_time = 12s;

struct command_line {
  std::string job;
  bool json = false;
  bool in_short = false;
};

/// A job's sockets. A process that nobody started as one of a job has none with others: it is known by its pid.
struct known_job {
  std::string name;
  std::vector<roll_socket> processes;
  std::vector<roll_socket> launchers;
};

std::vector<known_job> find_jobs() {
  std::map<std::string, known_job> jobs;
  const auto is_lone = [](const std::string& job) { return job.find_first_not_of('0') == std::string::npos; };
  for (const roll_socket& each : find_sockets()) {
    known_job& its = jobs[is_lone(each.job) ? std::to_string(each.pid) : each.job];
    (each.is_launcher() ? its.launchers : its.processes).push_back(each);
  }
  std::vector<known_job> result;
  for (auto& [name, its] : jobs) {
    its.name = name;
    std::ranges::sort(its.processes, {}, &roll_socket::process);
    result.push_back(std::move(its));
  }
  return result;
}

/// By its name, the beginning of that, or a pid of one of its processes.
const known_job& find_job(const std::vector<known_job>& jobs, const std::string& word) {
  const auto is = [&](const known_job& each) { return each.name == word; };
  const auto has = [&](const known_job& each) {
    const auto bears = [&](const roll_socket& its) { return std::to_string(its.pid) == word; };
    return std::ranges::any_of(each.processes, bears) || std::ranges::any_of(each.launchers, bears);
  };
  const auto begins = [&](const known_job& each) { return each.name.starts_with(word); };
  if (const auto found = std::ranges::find_if(jobs, is); found != jobs.end()) return *found;
  if (const auto found = std::ranges::find_if(jobs, has); found != jobs.end()) return *found;
  const auto found = std::ranges::find_if(jobs, begins);
  if (found == jobs.end())
    throw CLI::ValidationError("JOB", "\"" + word + "\" is no job of yours on this machine; `weft ps` lists them");
  if (std::ranges::count_if(jobs, begins) > 1)
    throw CLI::ValidationError("JOB", "\"" + word + "\" begins the names of several jobs; `weft ps` lists them");
  return *found;
}

/// What the job's launcher gathers, where it is here; else what is on this machine. Whether it is all of the job.
std::vector<roll_process> roll_of(const known_job& job, std::string& note) {
  for (const roll_socket& each : job.launchers) {
    const char state = state_of(each.pid, each.pid);
    if (state == 'T' || state == 't') {
      note = "its `weft run` (pid " + std::to_string(each.pid) +
             ") is stopped: only processes of this machine are shown\n";
      continue;
    }
    auto roll = parse_roll(ask(each, launcher_time));
    if (!roll.empty()) return roll;
    note = "its `weft run` (pid " + std::to_string(each.pid) +
           ") does not answer: only processes of this machine are shown\n";
  }
  std::vector<roll_process> roll;
  if (job.processes.empty()) return roll;
  roll_range all{job.processes[0].job, 0, 1};
  for (const roll_socket& each : job.processes) all.count = std::max(all.count, each.process + 1);
  roll = take_roll(all, true);
  std::erase_if(roll, [&](const roll_process& each) {
    return std::ranges::none_of(job.processes, [&](const roll_socket& its) { return its.pid == each.pid; });
  });
  if (!roll.empty() && static_cast<int>(roll.size()) < roll[0].of && note.empty())
    note = "its launcher is not on this machine: only processes of this machine are shown\n";
  return roll;
}

void list_jobs(bool as_json) {
  const std::vector<known_job> jobs = find_jobs();
  if (as_json) {
    for (const known_job& each : jobs) std::fputs(to_json(ask_all(each.processes, 1s)).c_str(), stdout);
    return;
  }
  if (jobs.empty()) return void(std::puts("no job of yours is on this machine"));
  std::printf("%-18s %9s %6s %6s  %s\n", "JOB", "PROCESSES", "RANKS", "QUIET", "BEGUN");
  for (const known_job& each : jobs) {
    const auto roll = ask_all(each.processes, 1s);
    std::size_t ranks = 0;
    std::uint64_t quiet = ~std::uint64_t{0};
    std::time_t begun = 0;
    int of = static_cast<int>(roll.size());
    for (const roll_process& process : roll) {
      ranks += process.ranks.size();
      of = std::max(of, process.of);
      begun = std::max<std::time_t>(begun, process.begun);
      for (const roll_rank& rank : process.ranks) quiet = std::min(quiet, rank.quiet);
    }
    std::string when(32, '\0');
    std::tm local{};
    if (begun != 0 && ::localtime_r(&begun, &local) != nullptr)
      when.resize(std::strftime(when.data(), when.size(), "%F %T", &local));
    else
      when.clear();
    const std::string count =
        std::to_string(roll.size()) + (of > static_cast<int>(roll.size()) ? "/" + std::to_string(of) : "");
    std::printf("%-18s %9s %6zu %4llu s  %s\n", each.name.c_str(), count.c_str(), ranks,
                static_cast<unsigned long long>(ranks == 0 ? 0 : quiet), when.c_str());
  }
}

void ps(const command_line& line) {
  if (line.job.empty()) return list_jobs(line.json);
  const std::vector<known_job> jobs = find_jobs();
  std::string note;
  const auto roll = roll_of(find_job(jobs, line.job), note);
  std::fputs(note.c_str(), stderr);
  std::fputs((line.json ? to_json(roll) : line.in_short ? in_short(roll) : in_full(roll)).c_str(), stdout);
}

}  // namespace

void add_ps(CLI::App& weft) {
  CLI::App* const app = weft.add_subcommand("ps",
                                            "Show the jobs of this user on this machine, or who of a job is stuck:\n"
                                            "  weft ps\n"
                                            "  weft ps JOB");
  app->footer(
      "Of a JOB (its name, the beginning of that, or the pid of one of its processes) every rank is shown: in what "
      "call\n"
      "it is and since when, its messages, and its stack, and first of all who has not entered what others wait in.");
  const auto line = std::make_shared<command_line>();
  app->add_option("JOB", line->job, "The job to show");
  app->add_flag("--short", line->in_short, "Ranks that do the same in one line, without stacks");
  app->add_flag("--json", line->json, "An object a line for each process");
  app->callback([line] { ps(*line); });
}

}  // namespace weft::tools
