// SPDX-License-Identifier: Apache-2.0
// The times of trials (candidate_trial.hpp): taken by each rank, and agreed on by all.
#pragma once

#include <span>
#include <vector>
#include <weft/request.hpp>
#include <weft/runtime/clock.hpp>
#include <weft/runtime/coroutine.hpp>
#include <weft/schedules/selection.hpp>

namespace weft::detail {

/// What a call takes on this rank, from when this is made.
class trial_timer {
 public:
  explicit trial_timer(const clock& by) noexcept : by_(by), is_left_(coroutine::leaves()), begun_(by.now()) {}

  /// 0 where the call is left when it waits: its rank does something else meanwhile.
  double seconds() const noexcept { return is_left_ ? 0 : std::chrono::duration<double>(by_.now() - begun_).count(); }

 private:
  const clock& by_;
  const bool is_left_;
  const clock::time_point begun_;
};

/// The call by which ranks agree on their times: an all-reduce by the greatest.
struct slowest_times {
  explicit slowest_times(std::span<const double> mine);
  slowest_times(const slowest_times&) = delete;
  slowest_times& operator=(const slowest_times&) = delete;

  std::vector<double> seconds;  ///< of this rank; behind the call the greatest of all ranks'
  request call;                 ///< in place
};

/// How that goes by messages.
schedules::selected by_messages_of_times();

}  // namespace weft::detail
