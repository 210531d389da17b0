// SPDX-License-Identifier: Apache-2.0
// Says who is stuck, once nothing has moved in a job for a while.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <weft/processes/job_processes.hpp>
#include <weft/streams/timer.hpp>

namespace weft::tools {

class stall_watch {
 public:
  /// Of each rank its phase, and how many calls it has begun and ended.
  using moves_by_rank = std::map<int, std::pair<std::string, std::uint64_t>>;

  /// `say` is given the roll in short when no rank has begun or ended anything for `limit`; once more only when
  /// something has moved since.
  stall_watch(event_loop& loop, job_processes& processes, std::chrono::milliseconds limit,
              std::function<void(const std::string&)> say);

 private:
  using clock = event_loop::clock;

  void look();
  void take(const std::string& roll);

  job_processes& processes_;
  const std::chrono::milliseconds limit_;
  const std::function<void(const std::string&)> say_;
  moves_by_rank moves_;  ///< at the latest look
  clock::time_point since_{};
  bool said_ = false;
  timer next_;
};

}  // namespace weft::tools
