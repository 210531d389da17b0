// SPDX-License-Identifier: Apache-2.0
// What ranks of a communicator that have counted the same calls agree on behind these, as of a trial's
// (candidate_trial.hpp).
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <weft/calls/communicator_state.hpp>
#include <weft/choice/trial_times.hpp>

namespace weft::detail {

/// By one exchange of messages, which need not be waited for: a collective of its own, in the order of the others.
class agreed_times {
 public:
  /// Begins it, with this rank's times, by the plan of an all-reduce of so many. `fingerprint`: of the call before
  /// which it is made.
  agreed_times(communicator_state& state, std::span<const double> mine, std::shared_ptr<const bound_schedule> by,
               std::uint64_t fingerprint);
  agreed_times(const agreed_times&) = delete;
  agreed_times& operator=(const agreed_times&) = delete;
  /// Blocks until it is over.
  ~agreed_times() { await(); }

  bool is_over() const noexcept { return run_.finished().ready(); }
  /// Blocks until it is. Any thread or fiber, several at a time; a coroutine is left meanwhile.
  void await() const;
  /// What it failed with, or null; else of each of the times the greatest of all ranks'. Once it is over.
  const std::exception_ptr& failure() const noexcept { return run_.failure(); }
  std::span<const double> slowest() const noexcept { return times_.seconds; }

 private:
  progress& by_;
  slowest_times times_;
  mutable dataflow_execution run_;
};

}  // namespace weft::detail
