// SPDX-License-Identifier: Apache-2.0
// Calls that block for no longer than the caller wants.
//
//   weft::deadline limit{5s};
//   try {
//     world.allreduce(in, out, weft::sum);
//   } catch (weft::timed_out& late) {
//     ...                            // late.missing(): who had not arrived
//     weft::wait_all(late.calls());  // waits for it again
//   }
#pragma once

#include <weft/api.h>

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>
#include <weft/handle.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/time_limit.hpp>

namespace weft {

namespace detail {
struct timed_out_calls;
}  // namespace detail

/// While it lives, blocking calls of the fiber, or the thread outside of one, that has made it throw timed_out where
/// they are not done by then: messages, collectives, calls of windows, divisions, agree, shrink and grow, `wait` of
/// handles and plans, wait_all, wait_any, probe and runtime::wait. Not abort, which ends by itself, and no destructors.
/// Of several that live the earliest counts. Where an exception leaves its scope, calls that were left in flight there
/// are dropped first; so make it behind the buffers that are used in it.
class deadline {
 public:
  explicit deadline(std::chrono::nanoseconds from_now) noexcept
      : deadline(std::chrono::steady_clock::now() +
                 std::chrono::duration_cast<std::chrono::steady_clock::duration>(from_now)) {}
  explicit deadline(std::chrono::steady_clock::time_point when) noexcept : limit_(when) {}

 private:
  time_limit limit_;
};

/// A deadline has passed. Of a blocking call it owns what is in flight, with sole use of the caller's buffers: that can
/// be waited for again, or moved away. When the last copy of the error goes, what it still owns is dropped: the
/// communicator is aborted, as by an exception that unwinds, and the end of the call waited for. A division is dropped
/// before it throws; so are shrink and grow. What this rank has given to an agree counts, and the next agree is the
/// same one, which it waits for again. Where handles or plans were waited for, those stay valid, and the error owns
/// nothing.
class WEFT_API timed_out : public error {
 public:
  timed_out(const std::string& message, std::shared_ptr<detail::timed_out_calls> calls);

  /// The ranks of the communicator that were waited for, as far as this process knows, in ascending order.
  std::span<const int> missing() const noexcept;
  std::span<handle> calls() const noexcept;

 private:
  std::shared_ptr<detail::timed_out_calls> calls_;
};

}  // namespace weft
