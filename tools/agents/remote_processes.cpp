// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <list>
#include <string_view>
#include <vector>
#include <weft/agents/remote_processes.hpp>
#include <weft/fabric/interfaces.hpp>
#include <weft/processes/start.hpp>
#include <weft/processes/this_host.hpp>
#include <weft/runtime/error.hpp>
#include <weft/streams/timer.hpp>

#include "acceptor.hpp"
#include "agent_link.hpp"
#include "agent_start.hpp"
#include "agent_tree.hpp"
#include "input_relay.hpp"

namespace weft::tools {
namespace {

using namespace std::chrono_literals;
using clock_type = event_loop::clock;

constexpr auto roll_time = 8s;   // for all hosts to send theirs
constexpr auto on_the_way = 1s;  // for what agents have to say when their processes are gone

std::string without_port(const std::string& address) {
  const std::string host = address.substr(0, address.rfind(':'));
  return host.starts_with('[') ? host.substr(1, host.size() - 2) : host;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < 8; ++i) text += (i == 0 ? "" : ", ") + names[i];
  return text + (names.size() > 8 ? " and " + std::to_string(names.size() - 8) + " more" : "");
}

std::string ranks_of(const host_share& share, const job_settings& settings) {
  const int first = share.processes.first * settings.ranks_per_process;
  return share.ranks == 1 ? "rank " + std::to_string(first)
                          : "ranks " + std::to_string(first) + " to " + std::to_string(first + share.ranks - 1);
}

class remote_processes final : public job_processes {
 public:
  remote_processes(event_loop& loop, reaper& of_job, const job_settings& settings, store_job job, job_events events,
                   sink& output, sink& errors, std::function<std::string(const std::string& address)> serve);

  void start() override;
  bool running() const noexcept override { return !abandoned_ && (starting_ || running_ > 0 || !untold_.empty()); }
  void signal(int number) override;
  std::string where(int process) const override;
  void child_ended(pid_t) override {}
  void take_roll(bool stacks, std::function<void(std::string)> done) override;
  void finish(event_loop::clock::time_point kill_at, bool job_ended) override;
  bool writing() const noexcept override;

 private:
  struct host {
    host_share share;
    std::unique_ptr<agent_start> start;  ///< where the launcher itself has started the agent
    std::unique_ptr<agent_link> link;    ///< from when the agent has come
    std::string reached_by;              ///< this machine's address that it reached
    std::vector<int> pids;
    int running = 0;
    int rolls = 0;         ///< that it has still to send
    bool settles = false;  ///< it was asked to, and has not answered
    bool cleaned = false;
    bool gone = false;  ///< out of reach
  };

  std::vector<std::string> reachable_addresses() const;
  invitation invite() const;
  void let_in(int number, file_descriptor socket);
  void give_orders();
  void hear(host& from, message kind, std::string_view body);
  void take_output(host& from, message written, sink& to, std::string_view body);
  void process_ended(host& from, const process_end& end);
  void tell_when_settled();
  void lose(host& lost, const failure& what);
  void agent_failed(host& its, const failure& what);
  bool goes_on_without_hosts() const noexcept { return settings_.continue_on_failure && !starting_; }
  void go_on_without(host& lost, const std::string& why);
  void link_ended(host& from, const std::string& why);
  void take_next_roll();
  void take_roll_of(host& from, std::string_view text);
  void end_roll();
  void give_up_waiting();
  void give_up_deaf();
  void send_all(message kind, const std::string& body);
  bool all_cleaned() const;
  const host& of(int process) const;

  event_loop& loop_;
  reaper& reaper_;
  const job_settings& settings_;
  store_job job_;
  job_events events_;
  sink& output_;
  sink& errors_;
  std::function<std::string(const std::string&)> serve_;
  std::vector<host> hosts_;  ///< in the order of the tree
  std::unique_ptr<acceptor> acceptor_;
  std::unique_ptr<input_relay> input_;
  timer join_;  ///< when every agent should have come
  struct asked_roll {
    bool stacks = false;
    std::function<void(std::string)> done;
  };
  std::list<asked_roll> asked_;      ///< the first is being taken
  std::string roll_;                 ///< what has come of it
  timer roll_end_;                   ///< when every host should have sent its part
  timer death_;                      ///< when what SIGKILL was sent to should have ended
  std::vector<process_end> untold_;  ///< failures that another one may have brought about
  bool starting_ = false, abandoned_ = false, finishing_ = false;
  int running_ = 0;
};

remote_processes::remote_processes(event_loop& loop, reaper& of_job, const job_settings& settings, store_job job,
                                   job_events events, sink& output, sink& errors,
                                   std::function<std::string(const std::string&)> serve)
    : loop_(loop),
      reaper_(of_job),
      settings_(settings),
      job_(std::move(job)),
      events_(std::move(events)),
      output_(output),
      errors_(errors),
      serve_(std::move(serve)),
      join_(loop, [this] { give_up_waiting(); }),
      roll_end_(loop, [this] { end_roll(); }),
      death_(loop, [this] { give_up_deaf(); }) {
  for (const host_share& share : settings.hosts) hosts_.emplace_back().share = share;
  // Only the launcher is on this machine, so it is the launcher that starts this machine's agent.
  std::stable_partition(hosts_.begin(), hosts_.end(), [](const host& h) { return is_this_host(h.share.name); });
}

void remote_processes::start() {
  starting_ = true;
  acceptor_ =
      std::make_unique<acceptor>(loop_, reachable_addresses(), job_.secret, hosts_.size(),
                                 [this](int number, file_descriptor socket) { let_in(number, std::move(socket)); });
  join_.set(clock_type::now() + settings_.join_timeout);
  invitation invited = invite();
  const host_range mine = started_by(launcher_itself, static_cast<int>(hosts_.size()));
  for (invited.host = mine.begin; invited.host < mine.end; ++invited.host) {
    host& its = hosts_[static_cast<std::size_t>(invited.host)];
    its.start = std::make_unique<agent_start>(loop_, reaper_, errors_, invited,
                                              [this, &its](const failure& what) { agent_failed(its, what); });
  }
}

/// Those of this machine that its agents may reach: which of them each does is for it to find out.
std::vector<std::string> remote_processes::reachable_addresses() const {
  std::vector<std::string> result;
  const auto elsewhere = [](const host& h) { return !is_this_host(h.share.name); };
  if (std::any_of(hosts_.begin(), hosts_.end(), elsewhere))
    for (const fabric::network_interface& each : fabric::usable_interfaces("", "")) result.push_back(each.address);
  return result.empty() ? std::vector<std::string>{"127.0.0.1"} : result;
}

invitation remote_processes::invite() const {
  invitation result;
  result.secret = job_.secret;
  result.addresses = acceptor_->addresses();
  for (const host& each : hosts_) result.hosts.push_back(each.share.name);
  result.rsh = settings_.rsh;
  if (result.rsh.front().find('/') != std::string::npos)
    result.rsh.front() = std::filesystem::absolute(result.rsh.front());
  result.command = std::filesystem::read_symlink("/proc/self/exe");
  result.environment = carried_environment();
  return result;
}

void remote_processes::let_in(int number, file_descriptor socket) {
  if (abandoned_ || number < 0 || static_cast<std::size_t>(number) >= hosts_.size()) return;
  host& from = hosts_[static_cast<std::size_t>(number)];
  if (from.link) return;
  from.reached_by = without_port(local_address(socket));
  from.link = std::make_unique<agent_link>(
      loop_, std::move(socket), [this, &from](message kind, std::string_view body) { hear(from, kind, body); },
      [this, &from](const std::string& why) { link_ended(from, why); });
  if (std::all_of(hosts_.begin(), hosts_.end(), [](const host& h) { return h.link != nullptr; })) give_orders();
}

/// Every agent has come.
void remote_processes::give_orders() {
  starting_ = false;
  join_.clear();
  acceptor_->close();
  orders each;
  each.settings = settings_;
  each.hosts = static_cast<int>(hosts_.size());
  each.job = job_.number;
  each.all_processes = job_.processes;
  each.folder = std::filesystem::current_path();
  for (host& to : hosts_) {
    each.processes = to.share.processes;
    each.host = to.share.number;
    each.store_address = serve_(to.reached_by);
    to.running = to.share.processes.count;
    running_ += to.running;
    to.link->send(message::orders, to_body(each));
    if (to.share.processes.first == 0)
      input_ =
          std::make_unique<input_relay>(loop_, [&to](std::string_view piece) { to.link->send(message::input, piece); });
  }
}

void remote_processes::hear(host& from, message kind, std::string_view body) {
  switch (kind) {
    case message::started:
      from.pids = from_body<std::vector<int>>(body);
      return;
    case message::failed:
      return lose(from, from_body<failure>(body));
    case message::ended:
      return process_ended(from, from_body<process_end>(body));
    case message::output:
      return take_output(from, message::output_written, output_, body);
    case message::errors:
      return take_output(from, message::errors_written, errors_, body);
    case message::input_taken:
      if (input_) input_->taken();
      return;
    case message::host_failed: {
      const auto what = from_body<failure>(body);
      if (goes_on_without_hosts()) return;  // the end of that host's own connection follows
      return events_.failed(what.status, what.why);
    }
    case message::roll:
      return take_roll_of(from, body);
    case message::settled:
      from.settles = false;
      return tell_when_settled();
    case message::cleaned:
      from.cleaned = true;
      return;
    default:
      throw error(errc::protocol, "a message that an agent does not send");
  }
}

void remote_processes::take_roll(bool stacks, std::function<void(std::string)> done) {
  asked_.push_back({stacks, std::move(done)});
  if (asked_.size() == 1) take_next_roll();
}

void remote_processes::take_next_roll() {
  roll_.clear();
  for (host& to : hosts_) {
    if (!to.link || !to.link->open() || starting_) continue;
    ++to.rolls;
    to.link->send(message::take_roll, to_body(asked_.front().stacks ? 1 : 0));
  }
  roll_end_.set(clock_type::now() + (starting_ ? 0s : roll_time));
}

void remote_processes::take_roll_of(host& from, std::string_view text) {
  if (from.rolls == 0) throw error(errc::protocol, "a roll that nobody has asked for");
  if (--from.rolls > 0) return;  // one that came too late
  roll_ += text;
  if (std::ranges::all_of(hosts_, [](const host& h) { return h.rolls == 0 || h.gone || !h.link || !h.link->open(); }))
    roll_end_.set(clock_type::now());
}

void remote_processes::end_roll() {
  const auto done = std::move(asked_.front().done);
  asked_.pop_front();
  const std::string roll = std::move(roll_);
  if (!asked_.empty()) take_next_roll();
  done(roll);  // which may ask for another
}

void remote_processes::take_output(host& from, message written, sink& to, std::string_view body) {
  to.put(body);
  const auto tell = [&from, written, size = to.broken() ? -1 : static_cast<int>(body.size())] {
    from.link->send(written, to_body(size));
  };
  if (to.full())
    to.when_not_full(tell);
  else
    tell();
}

void remote_processes::process_ended(host& from, const process_end& end) {
  const process_range& its = from.share.processes;
  if (from.running == 0 || end.process < its.first || end.process >= its.first + its.count)
    throw error(errc::protocol, "the end of a process that the host does not have");
  --from.running;
  --running_;
  const ending how{end.by_signal, end.dumped_core, end.number};
  if (!how.may_follow_another() || settings_.continue_on_failure) return events_.ended(end.process, how);
  untold_.push_back(end);
  if (untold_.size() > 1) return;
  for (host& to : hosts_) {
    to.settles = true;
    to.link->send(message::settle, "");
  }
  tell_when_settled();
}

void remote_processes::tell_when_settled() {
  const auto settled = [](const host& h) { return !h.settles || h.gone || !h.link->open(); };
  if (untold_.empty() || !std::ranges::all_of(hosts_, settled)) return;
  for (const process_end& each : std::exchange(untold_, {}))
    events_.ended(each.process, {each.by_signal, each.dumped_core, each.number});
}

void remote_processes::lose(host& lost, const failure& what) {
  running_ -= std::exchange(lost.running, 0);
  events_.failed(what.status, "host " + lost.share.name + ": " + what.why);
}

/// The shell that has started it has ended.
void remote_processes::agent_failed(host& its, const failure& what) {
  if (its.link == nullptr || !goes_on_without_hosts()) return events_.failed(what.status, what.why);
  go_on_without(its, what.why);
}

void remote_processes::link_ended(host& from, const std::string& why) {
  if (from.cleaned) return;
  tell_when_settled();
  const std::string what = "the agent there, with " + ranks_of(from.share, settings_) + ", is gone: " + why;
  if (!goes_on_without_hosts()) return lose(from, {1, what});
  go_on_without(from, "host " + from.share.name + ": " + what);
}

void remote_processes::go_on_without(host& lost, const std::string& why) {
  if (std::exchange(lost.gone, true)) return;
  running_ -= std::exchange(lost.running, 0);
  lost.link->close();
  if (lost.start) lost.start->kill();  // the shell, which may not notice for long
  events_.host_lost(lost.share.processes, why);
}

void remote_processes::give_up_waiting() {
  std::vector<std::string> silent, stray;
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    const int starter = starter_of(static_cast<int>(i));
    const bool could_come = starter == launcher_itself || hosts_[static_cast<std::size_t>(starter)].link != nullptr;
    if (hosts_[i].link || !could_come) continue;
    const bool greeted = hosts_[i].start && hosts_[i].start->greeted();
    (greeted ? stray : silent).push_back(hosts_[i].share.name);
  }
  const std::string limit = " within " + std::to_string(settings_.join_timeout.count()) + " ms (WEFT_JOIN_TIMEOUT)";
  if (!silent.empty()) return events_.failed(1, "no agent of weft answered from " + listed(silent) + limit);
  events_.failed(1, "the agents of " + listed(stray) + " did not come to " + listed(acceptor_->addresses()) + limit);
}

/// Agents that did not do what they were told are out of reach, or stopped; when that is over they find the connection
/// ended, and end what they have.
void remote_processes::give_up_deaf() {
  for (host& each : hosts_) {
    if (each.running == 0) continue;
    errors_.put("weft run: host " + each.share.name + ": the agent there does not answer; the job ends without it\n");
    each.link->close();
    running_ -= std::exchange(each.running, 0);
  }
  tell_when_settled();
}

void remote_processes::send_all(message kind, const std::string& body) {
  for (const host& to : hosts_)
    if (to.link) to.link->send(kind, body);
}

void remote_processes::signal(int number) {
  if (!starting_) {
    if (number == SIGKILL) death_.set(clock_type::now() + on_the_way);
    return send_all(message::signal, to_body(number));
  }
  if (number == SIGTERM || number == SIGKILL) abandoned_ = true;
}

const remote_processes::host& remote_processes::of(int process) const {
  return *std::find_if(hosts_.begin(), hosts_.end(), [process](const host& h) {
    return process >= h.share.processes.first && process < h.share.processes.first + h.share.processes.count;
  });
}

std::string remote_processes::where(int process) const {
  const host& its = of(process);
  const auto i = static_cast<std::size_t>(process - its.share.processes.first);
  return (i < its.pids.size() ? "pid " + std::to_string(its.pids[i]) + ", " : "") + "host " + its.share.name;
}

bool remote_processes::all_cleaned() const {
  return std::all_of(hosts_.begin(), hosts_.end(),
                     [](const host& h) { return !h.link || !h.link->open() || h.cleaned; });
}

void remote_processes::finish(clock_type::time_point kill_at, bool job_ended) {
  const auto now = clock_type::now();
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(kill_at - now).count();
  if (acceptor_) acceptor_->close();
  join_.clear();
  for (const host& each : hosts_) {
    if (!each.start) continue;
    each.start->dismiss();
    if (!each.link) each.start->kill();
  }
  send_all(message::finish, to_body(finishing{static_cast<int>(std::max<std::int64_t>(left, 0)), job_ended}));
  const auto give_up = std::max(kill_at, now) + after_kill + on_the_way;
  while (!all_cleaned() && clock_type::now() < give_up) loop_.wait(give_up);
}

bool remote_processes::writing() const noexcept {
  return std::any_of(hosts_.begin(), hosts_.end(),
                     [](const host& h) { return (h.link && h.link->open()) || (h.start && h.start->running()); });
}

}  // namespace

std::unique_ptr<job_processes> make_remote_processes(event_loop& loop, reaper& of_job, const job_settings& settings,
                                                     store_job job, job_events events, sink& output, sink& errors,
                                                     std::function<std::string(const std::string& address)> serve) {
  return std::make_unique<remote_processes>(loop, of_job, settings, std::move(job), std::move(events), output, errors,
                                            std::move(serve));
}

}  // namespace weft::tools
