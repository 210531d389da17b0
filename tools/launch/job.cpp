// SPDX-License-Identifier: Apache-2.0
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <weft/agents/remote_processes.hpp>
#include <weft/launch/job.hpp>
#include <weft/processes/launcher_process.hpp>
#include <weft/processes/local_processes.hpp>
#include <weft/processes/start.hpp>
#include <weft/roll_call/report.hpp>
#include <weft/roll_call/summary.hpp>
#include <weft/runtime/challenge.hpp>
#include <weft/runtime/roll_line.hpp>
#include <weft/streams/event_loop.hpp>
#include <weft/streams/output.hpp>
#include <weft/streams/standard_input.hpp>

#include "roll_desk.hpp"
#include "stall_watch.hpp"

namespace weft::tools {
namespace {

using clock_type = event_loop::clock;

std::uint64_t random_number() {
  std::random_device source;
  return (std::uint64_t{source()} << 32) | source();
}

class job {
 public:
  explicit job(const job_settings& settings);

  int run();

 private:
  std::unique_ptr<job_processes> make_processes();
  std::string serve(const std::string& address);
  void start();
  void handle_end(int process, const ending& how);
  void handle_lost_host(const process_range& its, const std::string& why);
  void handle_signals();
  void handle_signal(int number);
  void handle_timeout();
  void end(int status, const std::string& why, std::chrono::milliseconds until_kill = short_grace);
  void kill_all();
  void finish();
  void write_out();
  void say_roll_and_end(int status, const std::string& why);
  std::optional<clock_type::time_point> next_moment() const;
  void say_lines(const std::string& text) {
    if (!ending_) errors_.put("weft run: " + text);
  }
  void say(std::string text) { errors_.put(text.insert(0, "weft run: ").append("\n")); }
  std::string name_of(int process) const;

  const job_settings& settings_;
  store_job identity_;
  reaper reaper_;
  file_descriptor signals_;
  event_loop loop_;
  std::optional<tcp_store_server> server_;
  std::map<std::string, std::string> served_;  ///< this machine's addresses, and what to connect to
  descriptor_sink output_{loop_, 1};
  descriptor_sink errors_{loop_, 2};
  std::unique_ptr<job_processes> processes_;
  std::optional<roll_desk> desk_;
  std::optional<stall_watch> stalls_;
  std::optional<int> status_;  ///< decided by the first failure
  bool ending_ = false;
  std::optional<clock_type::time_point> kill_at_;  ///< when SIGKILL follows SIGTERM
  std::optional<clock_type::time_point> timeout_at_;
};

job::job(const job_settings& settings)
    : settings_(settings),
      identity_{random_number(), count_processes(settings), make_secret()},
      signals_(take_signals()),
      processes_(make_processes()) {}

std::unique_ptr<job_processes> job::make_processes() {
  job_events events{[this](int process, const ending& how) { handle_end(process, how); },
                    [this](int status, const std::string& why) { end(status, why); },
                    [this](const process_range& its, const std::string& why) { handle_lost_host(its, why); }};
  if (!settings_.hosts.empty())
    return make_remote_processes(loop_, reaper_, settings_, identity_, std::move(events), output_, errors_,
                                 [this](const std::string& address) { return serve(address); });
  local_share all{{0, identity_.processes}, 0, 1, identity_, serve("127.0.0.1")};
  return std::make_unique<local_processes>(loop_, reaper_, settings_, std::move(all), std::move(events), output_,
                                           errors_, std::make_unique<standard_input>(loop_));
}

/// Serves the rendezvous at one of this machine's addresses, and says what to connect to.
std::string job::serve(const std::string& address) {
  std::string& found = served_[address];
  if (!found.empty()) return found;
  if (server_) return found = server_->listen(address);
  server_.emplace(identity_, address);
  loop_.watch(server_->descriptor(), EPOLLIN, [this] { server_->serve(); });
  return found = server_->address();
}

int job::run() {
  loop_.watch(signals_.get(), EPOLLIN, [this] { handle_signals(); });
  if (settings_.timeout) timeout_at_ = clock_type::now() + *settings_.timeout;
  start();
  desk_.emplace(loop_, *processes_, roll_job_name(identity_.number));
  if (settings_.stuck_after)
    stalls_.emplace(loop_, *processes_, *settings_.stuck_after, [this](const std::string& roll) { say_lines(roll); });
  while (processes_->running()) {
    loop_.wait(next_moment());
    const auto now = clock_type::now();
    if (kill_at_ && now >= *kill_at_) kill_all();
    if (timeout_at_ && now >= *timeout_at_) handle_timeout();
  }
  finish();
  return status_.value_or(0);
}

void job::start() try { processes_->start(); } catch (...) {
  ending_ = true;
  kill_all();
  finish();
  throw;
}

std::string job::name_of(int process) const {
  const std::string ranks = ranks_of(settings_, process, " to ");
  const bool several = ranks.find(' ') != std::string::npos;
  return (several ? "the process of ranks " : "rank ") + ranks + " (" + processes_->where(process) + ")";
}

void job::handle_end(int process, const ending& how) {
  if (!how.failed()) return server_->leave(process);
  if (ending_) return;
  const std::string what = name_of(process) + " " + describe(how);
  if (!settings_.continue_on_failure) return end(how.exit_status(), what);
  if (!status_) status_ = how.exit_status();
  server_->lose(process, describe(how));
  if (processes_->running()) return say(what + "; the others go on");
  say(what);
}

void job::handle_lost_host(const process_range& its, const std::string& why) {
  if (ending_) return;
  if (!status_) status_ = 1;
  for (int process = its.first; process < its.first + its.count; ++process) server_->lose(process, why);
  say(processes_->running() ? why + "; the others go on" : why);
}

void job::handle_signals() {
  signalfd_siginfo info;
  while (::read(signals_.get(), &info, sizeof info) == sizeof info)
    if (info.ssi_signo == SIGCHLD)
      processes_->child_ended(static_cast<pid_t>(info.ssi_pid));
    else
      handle_signal(static_cast<int>(info.ssi_signo));
}

void job::handle_signal(int number) {
  if (is_passed_on(number)) {
    processes_->signal(number);
    if (number == SIGTSTP) ::raise(SIGSTOP);  // Ctrl-Z stops the whole job, and this process with it until SIGCONT
    return;
  }
  if (ending_) return kill_all();  // who asks twice does not want to wait
  end(128 + number, "received SIG" + std::string(::sigabbrev_np(number)), settings_.grace);
}

void job::handle_timeout() {
  timeout_at_.reset();
  std::array<char, 32> seconds{};
  std::snprintf(seconds.data(), seconds.size(), "%g", std::chrono::duration<double>(*settings_.timeout).count());
  const std::string why = std::string("the job did not end within ") + seconds.data() + " s (--timeout)";
  if (!ending_) say_roll_and_end(124, why);
}

/// What the ranks were in is gone once the job is ended.
void job::say_roll_and_end(int status, const std::string& why) {
  processes_->take_roll(true, [this, status, why](const std::string& text) {
    const auto roll = parse_roll(text);
    if (!roll.empty()) say_lines("when the time was over:\n" + in_short(roll));
    end(status, why);
  });
}

void job::end(int status, const std::string& why, std::chrono::milliseconds until_kill) {
  if (ending_) return;
  if (!status_) status_ = status;
  ending_ = true;
  kill_at_ = clock_type::now() + until_kill;
  say(processes_->running() ? why + "; ending the job" : why);
  processes_->signal(SIGTERM);
  processes_->signal(SIGCONT);  // who is stopped could not end
}

void job::kill_all() {
  kill_at_.reset();
  processes_->signal(SIGKILL);
}

std::optional<clock_type::time_point> job::next_moment() const {
  if (!kill_at_ || !timeout_at_) return kill_at_ ? kill_at_ : timeout_at_;
  return std::min(*kill_at_, *timeout_at_);
}

/// The grace is that of the ranks. What they leave behind has less.
void job::finish() {
  const auto now = clock_type::now(), soon = now + short_grace;
  processes_->finish(ending_ ? std::min(kill_at_.value_or(now), soon) : soon, ending_);
  write_out();
}

/// A reader may take its time, unless the job was ended.
void job::write_out() {
  const auto deadline = clock_type::now() + after_kill;
  while ((processes_->writing() || !output_.empty() || !errors_.empty()) && (!ending_ || clock_type::now() < deadline))
    loop_.wait(ending_ ? std::optional(deadline) : std::nullopt);
}

}  // namespace

int run_job(const job_settings& settings) {
  open_standard_descriptors();
  job_settings found = settings;
  found.exports = find_exports(settings.exports);
  return job(found).run();
}

}  // namespace weft::tools
