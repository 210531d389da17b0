// SPDX-License-Identifier: Apache-2.0
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>
#include <weft/command_line/subcommands.hpp>
#include <weft/processes/launcher_process.hpp>
#include <weft/processes/local_processes.hpp>
#include <weft/processes/program.hpp>
#include <weft/runtime/error.hpp>
#include <weft/streams/timer.hpp>

#include "agent_handshake.hpp"
#include "agent_link.hpp"
#include "agent_start.hpp"
#include "agent_tree.hpp"
#include "link_input.hpp"

namespace weft::tools {
namespace {

using namespace std::chrono_literals;
using clock_type = event_loop::clock;

constexpr auto connect_limit = 20s;
constexpr auto between_looks = 20ms;

std::string read_exactly(std::size_t length) {
  std::string text(length, '\0');
  for (std::size_t received = 0; received < length;) {
    const ssize_t count = ::read(0, text.data() + received, length - received);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) throw error(errc::no_rendezvous, "who started this agent has gone");
    received += static_cast<std::size_t>(count);
  }
  return text;
}

invitation receive_invitation() {
  std::printf("%s\n", agent_greeting().c_str());
  std::fflush(stdout);
  auto invited = from_body<invitation>(read_exactly(read_length(read_exactly(4))));
  for (std::string& line : invited.environment)
    if (const std::size_t equals = line.find('='); equals != std::string::npos)
      ::setenv(line.substr(0, equals).c_str(), line.c_str() + equals + 1, 1);
  return invited;
}

file_descriptor reach_launcher(const invitation& invited) {
  file_descriptor starter(0);
  file_descriptor socket =
      connect_to_launcher(invited.addresses, invited.secret, invited.host, starter, clock_type::now() + connect_limit);
  starter.release();
  return socket;
}

class agent {
 public:
  explicit agent(invitation invited);
  int run();

 private:
  void start_others();
  void hear(message kind, std::string_view body);
  void signal(int number);
  void start(orders given);
  void start_processes();
  void take_roll(bool stacks);
  void settle();
  void handle_signals();
  void handle_end(int process, const ending& how);
  void finish();
  void end_at_once();

  reaper reaper_;
  invitation invited_;
  file_descriptor signals_;
  event_loop loop_;
  agent_link link_;
  link_sink output_{link_, message::output};
  link_sink errors_{link_, message::errors};
  std::vector<std::unique_ptr<agent_start>> others_;  ///< the agents that this one has started
  int settling_ = 0;                                  ///< how often the launcher has asked
  timer next_look_{loop_, [this] { settle(); }};
  orders orders_;
  std::unique_ptr<local_processes> processes_;
  link_input* input_ = nullptr;  ///< of process 0, which processes_ owns
  bool running_ = true;          ///< as long as the launcher wants it
  finishing finishing_;
};

agent::agent(invitation invited)
    : invited_(std::move(invited)),
      signals_(take_signals()),
      link_(
          loop_, reach_launcher(invited_), [this](message kind, std::string_view body) { hear(kind, body); },
          [this](const std::string&) { running_ = false; }) {}

int agent::run() {
  loop_.watch(signals_.get(), EPOLLIN, [this] { handle_signals(); });
  start_others();
  while (running_) loop_.wait(std::nullopt);
  if (!link_.open()) {
    end_at_once();
    return 1;
  }
  finish();
  return 0;
}

void agent::start_others() try {
  const host_range mine = started_by(invited_.host, static_cast<int>(invited_.hosts.size()));
  invitation invited = invited_;
  for (invited.host = mine.begin; invited.host < mine.end; ++invited.host)
    others_.push_back(std::make_unique<agent_start>(loop_, reaper_, errors_, invited, [this](const failure& what) {
      link_.send(message::host_failed, to_body(what));
    }));
} catch (const launch_failure& failed) {
  link_.send(message::host_failed, to_body(failure{failed.status(), failed.what()}));
}

void agent::hear(message kind, std::string_view body) {
  switch (kind) {
    case message::orders:
      return start(from_body<orders>(body));
    case message::signal:
      return signal(from_body<int>(body));
    case message::input:
      if (input_ != nullptr) input_->take(body);
      return;
    case message::output_written:
      return output_.written(from_body<int>(body));
    case message::errors_written:
      return errors_.written(from_body<int>(body));
    case message::take_roll:
      return take_roll(from_body<int>(body) != 0);
    case message::settle:
      ++settling_;
      return settle();
    case message::finish:
      finishing_ = from_body<finishing>(body);
      running_ = false;
      return;
    default:
      throw error(errc::protocol, "a message that a launcher does not send");
  }
}

/// After SIGTSTP the launcher is stopped, too, and takes nothing until it goes on.
void agent::signal(int number) {
  if (number == SIGTSTP || number == SIGCONT) link_.expect_answers(number == SIGCONT);
  if (processes_) processes_->signal(number);
}

void agent::start(orders given) {
  orders_ = std::move(given);
  local_share share{orders_.processes,
                    orders_.host,
                    orders_.hosts,
                    {orders_.job, orders_.all_processes, invited_.secret},
                    orders_.store_address};
  std::unique_ptr<link_input> input;
  if (orders_.processes.first == 0)
    input = std::make_unique<link_input>(loop_, [this] { link_.send(message::input_taken, ""); });
  input_ = input.get();
  processes_ = std::make_unique<local_processes>(
      loop_, reaper_, orders_.settings, std::move(share),
      job_events{[this](int process, const ending& how) { handle_end(process, how); }, {}}, output_, errors_,
      std::move(input));
  start_processes();
}

void agent::start_processes() try {
  if (::chdir(orders_.folder.c_str()) != 0)
    throw launch_failure(126, "the folder \"" + orders_.folder + "\" cannot be entered: " + std::strerror(errno));
  processes_->start();
  link_.send(message::started, to_body(processes_->pids()));
} catch (const launch_failure& failed) {
  processes_->signal(SIGKILL);
  link_.send(message::failed, to_body(failure{failed.status(), failed.what()}));
} catch (const error& failed) {
  processes_->signal(SIGKILL);
  link_.send(message::failed, to_body(failure{1, failed.what()}));
}

void agent::take_roll(bool stacks) {
  if (!processes_) return link_.send(message::roll, "");
  processes_->take_roll(stacks, [this](const std::string& text) {
    link_.send(message::roll, text.size() <= longest_body ? text : std::string());
  });
}

/// The kernel says nothing when a process begins to end, nor when it has written its core: it is looked at.
void agent::settle() {
  if (processes_ && processes_->some_are_at_their_ends()) return next_look_.set(clock_type::now() + between_looks);
  for (; settling_ > 0; --settling_) link_.send(message::settled, "");
}

/// A signal to this agent ends it, and by that the job; but for those that the ranks get from the launcher.
void agent::handle_signals() {
  signalfd_siginfo info;
  while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
    const int number = static_cast<int>(info.ssi_signo);
    const auto pid = static_cast<pid_t>(info.ssi_pid);
    const auto shell = [pid](const auto& other) { return other->shell() == pid; };
    if (number == SIGCHLD) {
      if (processes_ && std::none_of(others_.begin(), others_.end(), shell)) processes_->child_ended(pid);
    } else if (!is_passed_on(number)) {
      end_at_once();
      std::_Exit(128 + number);
    }
  }
}

void agent::handle_end(int process, const ending& how) {
  link_.send(message::ended, to_body(process_end{process, how.by_signal, how.dumped_core, how.number}));
}

/// The launcher has told the other agents, too; they are waited for first, since all that this process still has as
/// children will be ended.
void agent::finish() {
  const auto kill_at = clock_type::now() + std::chrono::milliseconds(finishing_.kill_after);
  for (const auto& other : others_) other->dismiss();
  const auto some_run = [this] {
    return std::any_of(others_.begin(), others_.end(), [](const auto& other) { return other->running(); });
  };
  while (link_.open() && some_run() && (!finishing_.job_ended || clock_type::now() < kill_at + after_kill))
    loop_.wait(finishing_.job_ended ? std::optional(kill_at + after_kill) : std::nullopt);
  others_.clear();
  if (processes_) processes_->finish(kill_at, finishing_.job_ended);
  link_.send(message::cleaned, "");
  while (link_.open() && !(link_.flushed() && output_.empty() && errors_.empty())) loop_.wait(std::nullopt);
}

void agent::end_at_once() {
  others_.clear();
  if (!processes_) return;
  processes_->signal(SIGKILL);
  processes_->finish(clock_type::now(), true);
}

}  // namespace

void add_agent(CLI::App& weft, int& status) {
  CLI::App* const app = weft.add_subcommand("agent", "What `weft run` starts on other hosts");
  app->group("");  // not for users
  app->callback([&status] {
    open_standard_descriptors();
    status = agent(receive_invitation()).run();
  });
}

}  // namespace weft::tools
