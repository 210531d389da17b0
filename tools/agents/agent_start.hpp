// SPDX-License-Identifier: Apache-2.0
// Starting an agent on a host, through a remote shell, which lives as long as the agent does.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>
#include <weft/processes/child.hpp>
#include <weft/processes/reaper.hpp>
#include <weft/streams/event_loop.hpp>
#include <weft/streams/output.hpp>

#include "agent_protocol.hpp"

namespace weft::tools {

class agent_start {
 public:
  /// Starts the agent for `invited.host`; on this very machine without a remote shell if it bears the name of this.
  /// What the shell and the agent complain of goes to `errors` line by line. `failed` is called once, when the shell
  /// has ended for another reason than that the agent did as it was asked to, or when the agent is of another version;
  /// it may not destroy this object. Throws launch_failure when there is no such shell.
  agent_start(event_loop& loop, reaper& of_job, sink& errors, const invitation& invited,
              std::function<void(const failure&)> failed);
  ~agent_start();
  agent_start(const agent_start&) = delete;
  agent_start& operator=(const agent_start&) = delete;

  bool running() const noexcept { return static_cast<bool>(shell_.handle); }
  pid_t shell() const noexcept { return shell_.pid; }
  /// The agent has said which version it is, the right one.
  bool greeted() const noexcept { return greeted_; }
  /// From now on it may end.
  void dismiss() noexcept { dismissed_ = true; }
  /// Ends the shell, and with it what it may be waiting for.
  void kill() noexcept;

 private:
  class greeting_sink;

  void launch(reaper& of_job);
  void heard(std::string_view line);
  void handle_end();
  std::string explain(const ending& how) const;
  void fail(const failure& what);

  event_loop& loop_;
  sink& errors_;
  invitation invited_;
  std::string host_;
  std::vector<std::string> command_;
  std::function<void(const failure&)> failed_;
  bool greeted_ = false, dismissed_ = false, failed_already_ = false;
  child shell_;
  file_descriptor input_;  ///< the shell's standard input, open as long as it runs
  std::unique_ptr<descriptor_sink> to_agent_;
  std::unique_ptr<greeting_sink> greetings_;
  std::unique_ptr<line_forwarder> output_, complaints_;
};

}  // namespace weft::tools
