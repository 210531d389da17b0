// Persistent collectives: planned once, started many times.
//
//   weft::plan step = world.plan_allreduce(in, out, weft::sum);
//   for (...) {
//     step.start();
//     ...  // in and out are the plan's now
//     step.wait();
//   }
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>

namespace weft {

namespace detail {
class planned_collective;
}  // namespace detail

/// A collective bound to a communicator, its buffers and its operator, which a communicator's plan_... calls make: each
/// rank the same ones in the same order. Making one waits for nobody (but in the checked mode). Each rank starts a plan
/// as often as the others, in any order with its other plans and collectives; the buffers are the plan's from `start`
/// until it is done, as of the operation in flight that the form beginning with i starts, and the caller's between.
///
/// A start takes the way of the call that blocks: where its ranks share memory, through that, with the same bits; else
/// by messages. It allocates nothing, looks nothing up and waits for no lock, but for the first one of a plan that the
/// other ranks have made only just before. Receives of messages into the plan's own memory are posted when it is made,
/// and after each run for the next one: never into the caller's buffers.
///
/// Used by one thread or fiber of its rank at a time. Movable. Destroying one in flight waits for it, as a handle does;
/// then until the other ranks have made it, too, and what was posted ahead is taken back, which may take until their
/// processes call weft. Do that on every rank after as many starts, and before the runtime goes.
class plan {
 public:
  plan() noexcept;
  explicit plan(std::unique_ptr<detail::planned_collective> made) noexcept;
  plan(plan&&) noexcept;
  plan& operator=(plan&&) noexcept;
  ~plan();

  /// Whether it holds a collective.
  bool valid() const noexcept { return planned_ != nullptr; }
  /// Starts it and returns. Throws errc::invalid_argument where it is in flight already, holds nothing, or its
  /// communicator has been freed.
  void start();
  /// Polls once; true when what was started is done, and throws what it failed with. The plan can then be started
  /// again, and there is nothing to wait for before. Does not block, but lets other fibers run when it is not done.
  /// Throws errc::invalid_argument where nothing has been started.
  bool test();
  /// Blocks until what was started is done; throws what it failed with. Then the plan can be started again. Throws
  /// errc::invalid_argument where nothing has been started.
  void wait();
  /// As `wait`, but for no longer than to the deadline: false when that has passed, and it is in flight still.
  bool wait_until(std::chrono::steady_clock::time_point deadline);

 private:
  friend std::size_t wait_any(std::span<plan> plans);

  std::unique_ptr<detail::planned_collective> planned_;
};

/// Blocks until what was started by one of the plans is done: the index of that plan, whose `wait` then returns at
/// once. Where none is in flight, as many as there are plans. As of handles (handle.hpp).
std::size_t wait_any(std::span<plan> plans);

}  // namespace weft
