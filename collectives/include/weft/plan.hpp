// SPDX-License-Identifier: Apache-2.0
// Persistent collectives and messages: planned once, started many times.
//
//   weft::plan step = world.plan_allreduce(in, out, weft::sum);
//   for (...) {
//     step.start();
//     ...  // in and out are the plan's now
//     step.wait();
//   }
#pragma once

#include <weft/api.h>

#include <chrono>
#include <memory>
#include <weft/status.hpp>

namespace weft {

namespace detail {
class planned_operation;
struct in_flight;
}  // namespace detail

/// A collective bound to a communicator, its buffers and its operator. A communicator's plan_... calls make it, the
/// same ones in the same order on every rank; they wait for no other rank, but in the checked mode. Each rank starts it
/// as often as the others, in any order with its other plans and collectives. The buffers are the plan's from `start`
/// until it is done, as those of an operation in flight are, and the caller's between.
///
/// Or a message, bound to a buffer, a rank and a tag (plan_send, plan_recv): each start sends or receives one. The
/// other side may do likewise, or not.
///
/// A start takes the way of the blocking call and gives the same bits: through memory where its ranks share some, else
/// by messages. It allocates nothing, looks nothing up and waits for no lock, except where the other ranks have made
/// the plan only just before its first start. Receives of messages are posted ahead, when the plan is made and after
/// each run for the next one, into the plan's own memory alone: never into the caller's buffers.
///
/// Used by one thread or fiber of its rank at a time. Movable. Destroying a plan in flight waits for it, as a handle
/// does; then until the other ranks have made the plan, too, and posted receives are taken back, which may take until
/// their processes call weft. Destroy it on every rank after as many starts, and before the runtime.
class WEFT_API plan {
 public:
  plan() noexcept;
  explicit plan(std::unique_ptr<detail::planned_operation> made) noexcept;
  plan(plan&&) noexcept;
  plan& operator=(plan&&) noexcept;
  ~plan();

  /// Whether it holds something.
  bool valid() const noexcept { return planned_ != nullptr; }
  /// Starts it and returns. Throws errc::invalid_argument where it is in flight already, holds nothing, or its
  /// communicator has been freed.
  void start();
  /// Polls once; true when what was started is done, and throws what it failed with. The plan can then be started
  /// again, and there is nothing to wait for before. Does not block, but lets other fibers run when it is not done.
  /// Throws errc::invalid_argument where nothing has been started.
  bool test();
  /// Blocks until what was started is done; throws what it failed with. Then the plan can be started again. Of a
  /// planned receive the status says what came. Throws errc::invalid_argument where nothing has been started.
  status wait();
  /// As `wait`, but for no longer than to the deadline: false when that has passed, and it is in flight still.
  bool wait_until(std::chrono::steady_clock::time_point deadline);
  bool wait_for(std::chrono::nanoseconds longest) { return wait_until(std::chrono::steady_clock::now() + longest); }

 private:
  friend struct detail::in_flight;

  std::unique_ptr<detail::planned_operation> planned_;
};

}  // namespace weft
