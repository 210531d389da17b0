// SPDX-License-Identifier: Apache-2.0
// A flow of control with a stack of its own, which runs on one thread until it parks.
#pragma once

#include <cstddef>
#include <weft/runtime/clock.hpp>
#include <weft/runtime/context.hpp>
#include <weft/runtime/single_writer.hpp>
#include <weft/runtime/stack.hpp>
#include <weft/runtime/waiter.hpp>

namespace weft {

class scheduler;
class time_limit;
namespace trace {
class track;
}

/// A function that runs on a stack of its own, made by scheduler::spawn. It stays on its scheduler's thread. Lives, at
/// the top of its own stack, until its function has returned.
class fiber final : public waiter {
 public:
  /// The fiber that runs on this thread, or null outside of one.
  static fiber* current() noexcept;

  scheduler& owner() const noexcept { return owner_; }
  const stack& memory() const noexcept { return memory_; }

  /// The rank that it runs, or works for; -1: none. A fiber works for the rank of the one that made it.
  int rank() const noexcept { return rank_; }
  void set_rank(int rank) noexcept { rank_ = rank; }

  /// Where what it does is recorded (trace.hpp); null: nowhere. As the rank, that of the one that made it. Set before it
  /// runs.
  void set_track(trace::track* its) noexcept { track_ = its; }

  /// Where it is to be found by whoever looks into this process from outside, while its thread is stopped.
  struct whereabouts {
    const void* self = nullptr;         ///< this fiber
    const void* running = nullptr;      ///< a pointer to the fiber that its thread runs, null where that runs none
    const void* left_at = nullptr;      ///< where it goes on, as long as its thread does not run it: Boost's fcontext_t
    const std::byte* bottom = nullptr;  ///< of its stack
    const std::byte* top = nullptr;
  };
  /// On its own thread, or before it runs.
  whereabouts where() const noexcept;

 private:
  friend class scheduler;
  friend class fiber_queue;
  friend class time_limit;

  enum class task { run_and_destroy, destroy };
  using function = void (*)(void* callable, task what);

  /// Ends its park, or lets the next one return at once. At most once for each park: only an event calls it.
  void wake() noexcept override;

  fiber(scheduler& owner, stack&& memory, void* callable, function call) noexcept;
  static void main(void* self) noexcept;

  /// How far below the top of its stack a fiber keeps a callable of `size` bytes.
  static constexpr std::size_t room(std::size_t size) noexcept {
    return (sizeof(fiber) + alignment - 1) / alignment * alignment + (size + alignment - 1) / alignment * alignment;
  }
  static constexpr std::size_t alignment = 64;

  scheduler& owner_;
  stack memory_;
  void* callable_;
  function call_;
  int rank_ = -1;
  trace::track* track_ = nullptr;
  context context_;
  fiber* next_ = nullptr;         // in the ready queue
  fiber* next_remote_ = nullptr;  // in the remote queue
  bool parked_ = false;           // and in no ready queue
  bool woken_ = false;            // a wake that no park has taken yet
  time_limit* limit_ = nullptr;   // in force here

  // In the scheduler's list of deadlines.
  fiber* earlier_ = nullptr;
  fiber* later_ = nullptr;
  clock::time_point deadline_{};
  bool timed_ = false;
};

/// Fibers in the order in which they came. Needs no memory: a fiber is in one queue at most. One thread's.
class fiber_queue {
 public:
  /// Any thread may ask that.
  bool empty() const noexcept { return first_ == nullptr; }
  void push(fiber& last) noexcept {
    last.next_ = nullptr;
    if (last_ == nullptr)
      first_ = &last;
    else
      last_->next_ = &last;
    last_ = &last;
  }
  /// The one that came first. There must be one.
  fiber& pop() noexcept {
    fiber& first = *first_;
    first_ = first.next_;
    if (first_ == nullptr) last_ = nullptr;
    return first;
  }

 private:
  single_writer<fiber*> first_{nullptr};
  fiber* last_ = nullptr;
};

}  // namespace weft
