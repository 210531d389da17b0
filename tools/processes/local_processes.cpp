// SPDX-License-Identifier: Apache-2.0
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <weft/processes/launcher_process.hpp>
#include <weft/processes/local_processes.hpp>
#include <weft/processes/program.hpp>
#include <weft/processes/this_host.hpp>
#include <weft/runtime/roll_line.hpp>

#include "kept_desk.hpp"
#include "subreaper.hpp"

namespace weft::tools {
namespace {

using namespace std::chrono_literals;
using clock_type = event_loop::clock;

}  // namespace

local_processes::local_processes(event_loop& loop, reaper& of_job, const job_settings& settings, local_share share,
                                 job_events events, sink& output, sink& errors, std::unique_ptr<process_input> input)
    : loop_(loop),
      reaper_(of_job),
      settings_(settings),
      share_(std::move(share)),
      events_(std::move(events)),
      output_(output),
      errors_(errors),
      input_(std::move(input)),
      kept_(std::make_unique<kept_desk>(
          loop_, rolls_, roll_range{roll_job_name(share_.job.number), share_.processes.first, share_.processes.count},
          errors_)) {
  share_.roll_desk = kept_->name();
  become_subreaper();
}

local_processes::~local_processes() = default;

/// Those that run here; nothing for the others. Each is looked for before one is started.
std::vector<std::string> local_processes::find_programs() const {
  std::vector<std::string> paths(settings_.programs.size());
  for (int i = 0; i < share_.processes.count; ++i) {
    const std::size_t program = program_of(settings_, share_.processes.first + i);
    if (paths[program].empty()) paths[program] = find_program(settings_.programs[program].words.front());
  }
  return paths;
}

void local_processes::start() {
  const std::vector<std::string> paths = find_programs();
  child_settings settings;
  const placement placed = bindings(settings_, share_.processes);
  const std::string where = share_.hosts > 1 ? "host " + host_name() + ": " : "";
  if (!placed.warning.empty()) errors_.put("weft run: " + where + placed.warning + "\n");
  for (const std::string& line : placed.report) errors_.put("weft run: " + where + line + "\n");
  settings.descriptors = allow_many_descriptors();
  members_.resize(static_cast<std::size_t>(share_.processes.count));
  for (int i = 0; i < share_.processes.count; ++i) {
    const int process = share_.processes.first + i;
    const std::size_t program = program_of(settings_, process);
    settings.path = paths[program];
    settings.arguments = settings_.programs[program].words;
    settings.environment = environment_of(settings_, share_, process, placed.cpus);
    if (!placed.cpus.empty()) settings.cpus = placed.cpus[static_cast<std::size_t>(i)];
    settings.standard_input = process == 0 ? input_->descriptor() : -1;
    start_one(process, settings);
    if (process == 0) input_->started();
  }
}

void local_processes::start_one(int process, const child_settings& settings) {
  member& m = of(process);
  m.process = tools::start(settings);
  reaper_.watch_over(m.process.pid);
  ++running_;
  std::string tag;
  if (settings_.tag_output) tag.append("[").append(ranks_of(settings_, process, "-")).append("] ");
  const bool several = share_.job.processes > 1;
  m.output = std::make_unique<line_forwarder>(loop_, std::move(m.process.output), output_, tag, several);
  m.error = std::make_unique<line_forwarder>(loop_, std::move(m.process.error), errors_, tag, several);
  loop_.watch(m.process.handle.get(), EPOLLIN, [this, process] { handle_end(process); });
}

void local_processes::handle_end(int process) {
  member& m = of(process);
  loop_.forget(m.process.handle.get());
  m.ended = true;
  --running_;
  if (process == 0) input_->close();
  const ending how = ending_of(m.process);
  if (how.failed())
    for (auto* stream : {&m.output, &m.error}) (*stream)->drain();
  if (how.may_follow_another() && !settings_.continue_on_failure)
    untold_.emplace_back(process, how);
  else
    events_.ended(process, how);
  if (untold_.empty() || some_are_at_their_ends()) return;
  for (const auto& [other, its] : std::exchange(untold_, {})) events_.ended(other, its);
}

bool local_processes::some_are_at_their_ends() const {
  return std::ranges::any_of(members_,
                             [](const member& m) { return m.process.pid > 0 && !m.ended && is_at_its_end(m.process); });
}

/// Members have their own handles.
void local_processes::child_ended(pid_t pid) {
  const bool ours =
      std::any_of(members_.begin(), members_.end(), [&](const member& m) { return m.process.pid == pid; });
  if (!ours) ::waitpid(pid, nullptr, WNOHANG);
}

/// To every process group that may still have someone in it.
void local_processes::signal(int number) {
  for (const member& m : members_)
    if (m.process.pid > 0) ::kill(-m.process.pid, number);
}

void local_processes::take_roll(bool stacks, std::function<void(std::string)> done) {
  rolls_.take({roll_job_name(share_.job.number), share_.processes.first, share_.processes.count}, stacks,
              std::move(done));
}

std::string local_processes::where(int process) const {
  const auto i = static_cast<std::size_t>(process - share_.processes.first);
  return "pid " + std::to_string(members_[i].process.pid) + ", host " + host_name();
}

std::vector<pid_t> local_processes::pids() const {
  std::vector<pid_t> result;
  for (const member& m : members_) result.push_back(m.process.pid);
  return result;
}

/// Every process of ours has ended; what they started themselves may live on, in their groups or adopted by this
/// process.
void local_processes::finish(clock_type::time_point kill_at, bool) {
  signal(SIGTERM);
  std::vector<pid_t> processes;
  for (member& m : members_) {
    if (m.process.pid <= 0) continue;
    processes.push_back(m.process.pid);
    loop_.forget(m.process.handle.get());
    reap(m.process);
    m.process.pid = -1;
  }
  end_leftovers(processes, kill_at);
  for (member& m : members_)
    for (auto* stream : {&m.output, &m.error})
      if (*stream) (*stream)->finish();
  sweep_regions(processes);
}

/// A group keeps its number as long as somebody is in it, so that this number means nobody else.
void local_processes::end_leftovers(std::vector<pid_t> groups, clock_type::time_point kill_at) {
  const auto give_up = std::max(kill_at, clock_type::now()) + after_kill;
  signal_adopted(SIGTERM);
  while (clock_type::now() < give_up) {
    const bool adopted = reap_adopted();
    std::erase_if(groups, [](pid_t group) { return !group_exists(group); });
    if (groups.empty() && !adopted) break;
    if (clock_type::now() >= kill_at) {
      for (const pid_t group : groups) ::kill(-group, SIGKILL);
      signal_adopted(SIGKILL);
    }
    loop_.wait(clock_type::now() + 2ms);
  }
}

}  // namespace weft::tools
