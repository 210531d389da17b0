#include "job.hpp"

#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <random>
#include <weft/runtime/error.hpp>

#include "child.hpp"
#include "event_loop.hpp"
#include "guardian.hpp"
#include "launcher_process.hpp"
#include "orphans.hpp"
#include "output.hpp"
#include "program.hpp"
#include "standard_input.hpp"
#include "start.hpp"

namespace weft::tools {
namespace {

using namespace std::chrono_literals;
using clock_type = event_loop::clock;

constexpr auto grace = 500ms;       // from SIGTERM to SIGKILL
constexpr auto after_kill = 500ms;  // for what SIGKILL does not end at once, and for a reader who takes no more output

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::uint64_t random_number() {
  std::random_device source;
  return (std::uint64_t{source()} << 32) | source();
}

class job {
 public:
  explicit job(const job_settings& settings)
      : settings_(settings),
        identity_{random_number(), count_processes(settings), make_secret()},
        signals_(take_signals()),
        server_(identity_) {
    adopt_orphans();
  }

  int run(const std::string& path, const std::vector<topology::cpu_set>& cpus);

 private:
  struct member {
    child process;
    std::unique_ptr<line_forwarder> output, error;
    bool ended = false;
  };

  void start_all(const std::string& path, const std::vector<topology::cpu_set>& cpus);
  void start_one(int number, const child_settings& settings);
  void handle_end(int number);
  void handle_signals();
  void handle_child(pid_t pid);
  void handle_signal(int number);
  void handle_timeout();
  void signal_all(int number);
  void end(int status, const std::string& why);
  void kill_all();
  void finish();
  void write_out();
  std::optional<clock_type::time_point> next_moment() const;
  void say(std::string text) { errors_.put(text.insert(0, "weft run: ").append("\n")); }
  std::string name_of(int number) const;

  const job_settings& settings_;
  store_job identity_;
  guardian guardian_;
  file_descriptor signals_;
  event_loop loop_;
  tcp_store_server server_;
  sink output_{loop_, 1};
  sink errors_{loop_, 2};
  std::vector<member> members_;
  std::unique_ptr<standard_input> input_;
  int running_ = 0;
  std::optional<int> status_;  ///< decided by the first failure
  bool ending_ = false;
  std::optional<clock_type::time_point> kill_at_;  ///< when SIGKILL follows SIGTERM
  std::optional<clock_type::time_point> timeout_at_;
};

int job::run(const std::string& path, const std::vector<topology::cpu_set>& cpus) {
  loop_.watch(signals_.get(), EPOLLIN, [this] { handle_signals(); });
  loop_.watch(server_.descriptor(), EPOLLIN, [this] { server_.serve(); });
  if (settings_.timeout) timeout_at_ = clock_type::now() + *settings_.timeout;
  start_all(path, cpus);
  while (running_ > 0) {
    loop_.wait(next_moment());
    const auto now = clock_type::now();
    if (kill_at_ && now >= *kill_at_) kill_all();
    if (timeout_at_ && now >= *timeout_at_) handle_timeout();
  }
  finish();
  return status_.value_or(0);
}

void job::start_all(const std::string& path, const std::vector<topology::cpu_set>& cpus) {
  child_settings settings;
  settings.path = path;
  settings.arguments = settings_.program;
  settings.descriptors = allow_many_descriptors();
  members_.resize(static_cast<std::size_t>(identity_.processes));
  try {
    for (int number = 0; number < identity_.processes; ++number) {
      settings.environment = environment_of(settings_, identity_, server_.address(), number, cpus);
      if (!cpus.empty()) settings.cpus = cpus[static_cast<std::size_t>(number)];
      if (number == 0) input_ = std::make_unique<standard_input>(loop_);
      settings.standard_input = number == 0 ? input_->descriptor() : -1;
      start_one(number, settings);
      if (number == 0) input_->started();
    }
  } catch (...) {
    ending_ = true;
    signal_all(SIGKILL);
    finish();
    throw;
  }
}

void job::start_one(int number, const child_settings& settings) {
  member& m = members_[static_cast<std::size_t>(number)];
  m.process = start(settings);
  guardian_.watch_over(m.process.pid);
  ++running_;
  std::string tag;
  if (settings_.tag_output) tag.append("[").append(ranks_of(settings_, number, "-")).append("] ");
  const bool several = identity_.processes > 1;
  m.output = std::make_unique<line_forwarder>(loop_, std::move(m.process.output), output_, tag, several);
  m.error = std::make_unique<line_forwarder>(loop_, std::move(m.process.error), errors_, tag, several);
  loop_.watch(m.process.handle.get(), EPOLLIN, [this, number] { handle_end(number); });
}

std::string job::name_of(int number) const {
  const std::string ranks = ranks_of(settings_, number, " to ");
  const bool several = ranks.find(' ') != std::string::npos;
  return (several ? "the process of ranks " : "rank ") + ranks + " (pid " +
         std::to_string(members_[static_cast<std::size_t>(number)].process.pid) + ", host " + host_name() + ")";
}

void job::handle_end(int number) {
  member& m = members_[static_cast<std::size_t>(number)];
  loop_.forget(m.process.handle.get());
  m.ended = true;
  --running_;
  if (number == 0) input_->close();
  const ending how = ending_of(m.process);
  if (ending_) return;
  if (!how.failed()) return server_.leave(number);
  for (auto* stream : {&m.output, &m.error}) (*stream)->drain();  // its last words come before ours
  const std::string what = name_of(number) + " " + describe(how);
  if (!settings_.continue_on_failure) return end(how.exit_status(), what);
  if (!status_) status_ = how.exit_status();
  server_.lose(number, describe(how));
  if (running_ > 0) return say(what + "; the others go on");
  say(what);
}

void job::handle_signals() {
  signalfd_siginfo info;
  while (::read(signals_.get(), &info, sizeof info) == sizeof info)
    if (info.ssi_signo == SIGCHLD)
      handle_child(static_cast<pid_t>(info.ssi_pid));
    else
      handle_signal(static_cast<int>(info.ssi_signo));
}

/// Orphans are reaped here (several deaths may come as one signal: `finish` gets the rest); members have their own
/// handles.
void job::handle_child(pid_t pid) {
  const bool ours =
      std::any_of(members_.begin(), members_.end(), [&](const member& m) { return m.process.pid == pid; });
  if (!ours) ::waitpid(pid, nullptr, WNOHANG);
}

void job::handle_signal(int number) {
  if (number == SIGCONT) return signal_all(SIGCONT);
  if (number == SIGTSTP) {  // Ctrl-Z stops the whole job, and this process with it until SIGCONT
    signal_all(SIGTSTP);
    ::raise(SIGSTOP);
    return;
  }
  if (ending_) return kill_all();  // who asks twice does not want to wait
  end(128 + number, "received SIG" + std::string(::sigabbrev_np(number)));
}

void job::handle_timeout() {
  timeout_at_.reset();
  std::array<char, 32> seconds{};
  std::snprintf(seconds.data(), seconds.size(), "%g", std::chrono::duration<double>(*settings_.timeout).count());
  if (!ending_) end(124, std::string("the job did not end within ") + seconds.data() + " s (--timeout)");
}

/// To every process group that may still have someone in it.
void job::signal_all(int number) {
  for (const member& m : members_)
    if (m.process.pid > 0) ::kill(-m.process.pid, number);
}

void job::end(int status, const std::string& why) {
  if (!status_) status_ = status;
  ending_ = true;
  kill_at_ = clock_type::now() + grace;
  say(running_ > 0 ? why + "; ending the job" : why);
  signal_all(SIGTERM);
  signal_all(SIGCONT);  // who is stopped could not end
}

void job::kill_all() {
  kill_at_.reset();
  signal_all(SIGKILL);
}

std::optional<clock_type::time_point> job::next_moment() const {
  if (!kill_at_ || !timeout_at_) return kill_at_ ? kill_at_ : timeout_at_;
  return std::min(*kill_at_, *timeout_at_);
}

/// Every process of ours has ended; what they started themselves may live on, in their groups or as orphans of ours.
void job::finish() {
  const auto begin = clock_type::now();
  const auto kill_at = ending_ ? kill_at_.value_or(begin) : begin + grace;
  signal_all(SIGTERM);
  std::vector<pid_t> processes;
  for (member& m : members_) {
    if (m.process.pid <= 0) continue;
    processes.push_back(m.process.pid);
    loop_.forget(m.process.handle.get());
    reap(m.process);
    m.process.pid = -1;
  }
  // A group keeps its number as long as somebody is in it, so that this number means nobody else.
  std::vector<pid_t> groups = processes;
  signal_orphans(SIGTERM);
  while (clock_type::now() < std::max(kill_at, begin) + after_kill) {
    const bool orphans = reap_orphans();
    std::erase_if(groups, [](pid_t group) { return !group_exists(group); });
    if (groups.empty() && !orphans) break;
    if (clock_type::now() >= kill_at) {
      for (const pid_t group : groups) ::kill(-group, SIGKILL);
      signal_orphans(SIGKILL);
    }
    loop_.wait(clock_type::now() + 2ms);
  }
  for (member& m : members_)
    for (auto* stream : {&m.output, &m.error})
      if (*stream) (*stream)->finish();
  sweep_regions(processes);
  write_out();
}

/// A reader may take its time, unless the job was ended.
void job::write_out() {
  const auto deadline = clock_type::now() + after_kill;
  while ((!output_.empty() || !errors_.empty()) && (!ending_ || clock_type::now() < deadline))
    loop_.wait(ending_ ? std::optional(deadline) : std::nullopt);
}

}  // namespace

int run_job(const job_settings& settings) {
  open_standard_descriptors();
  const std::string path = find_program(settings.program.front());
  const auto cpus = bindings(settings);
  return job(settings).run(path, cpus);
}

}  // namespace weft::tools
