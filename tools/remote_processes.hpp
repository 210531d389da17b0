// The processes of a job on several hosts, each of which has an agent that starts and ends those of its host.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>
#include <weft/runtime/tcp_store.hpp>

#include "agent_link.hpp"
#include "agent_start.hpp"
#include "doorkeeper.hpp"
#include "guardian.hpp"
#include "input_relay.hpp"
#include "job_processes.hpp"
#include "timer.hpp"

namespace weft::tools {

class remote_processes final : public job_processes {
 public:
  /// `serve` is to make the rendezvous listen on one of this machine's addresses, and to say what to connect to. What
  /// is given by reference must outlive this.
  remote_processes(event_loop& loop, guardian& guard, const job_settings& settings, store_job job, job_events events,
                   sink& output, sink& errors, std::function<std::string(const std::string& address)> serve);

  void start() override;
  bool running() const noexcept override { return !abandoned_ && (starting_ || running_ > 0); }
  void signal(int number) override;
  std::string where(int process) const override;
  void child_ended(pid_t) override {}
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
    bool cleaned = false;
  };

  std::vector<std::string> reachable_addresses() const;
  invitation invite() const;
  void let_in(int number, file_descriptor socket);
  void give_orders();
  void hear(host& from, message kind, std::string_view body);
  void take_output(host& from, message written, sink& to, std::string_view body);
  void process_ended(host& from, const process_end& end);
  void lose(host& lost, const failure& what);
  void link_ended(host& from, const std::string& why);
  void give_up_waiting();
  void give_up_deaf();
  void send_all(message kind, const std::string& body);
  bool all_cleaned() const;
  const host& of(int process) const;

  event_loop& loop_;
  guardian& guardian_;
  const job_settings& settings_;
  store_job job_;
  job_events events_;
  sink& output_;
  sink& errors_;
  std::function<std::string(const std::string&)> serve_;
  std::vector<host> hosts_;  ///< in the order of the tree
  std::unique_ptr<doorkeeper> door_;
  std::unique_ptr<input_relay> input_;
  timer join_;   ///< when every agent should have come
  timer death_;  ///< when what SIGKILL was sent to should have ended
  bool starting_ = false, abandoned_ = false, finishing_ = false;
  int running_ = 0;
};

}  // namespace weft::tools
