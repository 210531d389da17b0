// SPDX-License-Identifier: Apache-2.0
// The processes of a job that run on this machine.
#pragma once

#include <memory>
#include <utility>
#include <vector>
#include <weft/processes/child.hpp>
#include <weft/processes/job_processes.hpp>
#include <weft/processes/job_settings.hpp>
#include <weft/processes/reaper.hpp>
#include <weft/processes/start.hpp>
#include <weft/roll_call/take_roll.hpp>
#include <weft/streams/output.hpp>
#include <weft/streams/standard_input.hpp>

namespace weft::tools {

class kept_desk;

class local_processes final : public job_processes {
 public:
  /// `input` is for process 0. What is given by reference must outlive this. This process becomes the one
  /// that adopts what its processes leave behind.
  local_processes(event_loop& loop, reaper& of_job, const job_settings& settings, local_share share, job_events events,
                  sink& output, sink& errors, std::unique_ptr<process_input> input);

  ~local_processes() override;

  void start() override;
  bool running() const noexcept override { return running_ > 0; }
  void signal(int number) override;
  void take_roll(bool stacks, std::function<void(std::string)> done) override;
  std::string where(int process) const override;
  /// Reaps what processes of the job left behind. Several deaths may come as one signal: `finish` gets the rest.
  void child_ended(pid_t pid) override;
  void finish(event_loop::clock::time_point kill_at, bool job_ended) override;
  bool writing() const noexcept override { return false; }

  /// The process numbers, in the order of processes.
  std::vector<pid_t> pids() const;
  /// Whether one has begun to end, as by writing its core, and has not ended.
  bool some_are_at_their_ends() const;

 private:
  struct member {
    child process;
    std::unique_ptr<line_forwarder> output, error;
    bool ended = false;
  };

  std::vector<std::string> find_programs() const;
  void start_one(int process, const child_settings& settings);
  void handle_end(int process);
  member& of(int process) { return members_[static_cast<std::size_t>(process - share_.processes.first)]; }
  void end_leftovers(std::vector<pid_t> groups, event_loop::clock::time_point kill_at);

  event_loop& loop_;
  reaper& reaper_;
  const job_settings& settings_;
  local_share share_;
  job_events events_;
  sink& output_;
  sink& errors_;
  std::unique_ptr<process_input> input_;
  roll_taker rolls_{loop_};
  std::unique_ptr<kept_desk> kept_;
  std::vector<member> members_;
  int running_ = 0;
  std::vector<std::pair<int, ending>> untold_;  ///< exits that another's end may have caused
};

}  // namespace weft::tools
