// SPDX-License-Identifier: Apache-2.0
// Operations in flight, as their ranks' handles and plans hold them.
#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <utility>
#include <weft/calls/communicator_state.hpp>
#include <weft/calls/recycled.hpp>
#include <weft/runtime/event.hpp>
#include <weft/runtime/trace.hpp>
#include <weft/runtime/uncaught_exceptions.hpp>
#include <weft/wait.hpp>

namespace weft::detail {

class task_base;

/// Operations that memory is kept for on each thread, of each kind, beside the callers' handles: as many as programs
/// have in flight.
inline constexpr std::size_t most_recycled = 256;

/// What a handle holds.
class pending {
 public:
  pending(std::shared_ptr<communicator_state> state, const char* operation)
      : state_(std::move(state)), operation_(operation) {}
  virtual ~pending() { forget_waiters(); }
  /// In place of its destructor, where a handle lets it go.
  virtual void retire() noexcept { delete this; }
  /// Is set when it is done.
  virtual event& done() = 0;
  /// What it failed with, or null. Once done.
  virtual const std::exception_ptr& failure() const noexcept = 0;
  /// What came. Once done.
  virtual status result() const noexcept { return {}; }
  /// Ends it without what it was for, if that has not begun: true, and it is done.
  virtual bool cancel() noexcept { return false; }
  /// Puts what is still elsewhere into the caller's buffers. Once done without a failure, by the caller's thread.
  virtual void deliver() noexcept {}

  /// Not of one that was done before it could be waited for.
  communicator_state& state() const noexcept { return *state_; }
  const char* operation() const noexcept { return operation_; }
  /// Whether it is done. Goes on with it as far as it can without waiting, and lets other fibers run, if it is not.
  bool ready();
  /// Blocks until it is done, as long as deadlines permit (weft/deadline.hpp): else throws timed_out.
  void await_in_time();
  /// The ranks that it waits for, as far as this process knows.
  virtual std::vector<int> missing() const;
  /// Blocks until it is done.
  virtual void await();
  /// Waits for it; where an exception is unwinding, aborts the communicator first so that the wait ends.
  void abandon();
  /// It has been dropped while an exception unwinds: all operations of the communicator end.
  void break_communicator();
  /// The result, or throws what it failed with. Once done.
  virtual status finish() {
    if (failure() != nullptr) raise();
    deliver();
    return result();
  }
  /// Whether an exception is unwinding that was not when this began.
  bool unwinding() const noexcept { return std::uncaught_exceptions() > exceptions_; }

  /// Throws what it failed with.
  virtual void raise() const { rethrow(*state_, operation_, failure()); }

  /// What it is recorded as, once it is started.
  void note_as(const trace::record& as) noexcept;
  /// It was started then, and is to be recorded.
  void note_start(ticks begin) noexcept {
    if (traced_ != nullptr) traced_->begin = begin;
  }
  void note_start(const trace::record& as, ticks begin) noexcept {
    note_as(as);
    note_start(begin);
  }
  /// Tasks that await it (weft/task.hpp): of the thread that lets it go.
  void add_waiter(task_base& one) noexcept;
  void remove_waiter(const task_base& one) noexcept;
  /// It is let go: they wait for nothing any more.
  void forget_waiters() noexcept {
    if (waiters_ != nullptr) [[unlikely]]
      wake_waiters();
  }

  /// Its caller knows that it is over: it is recorded, if it is to be and has not been.
  void note_end() noexcept {
    if (traced_ != nullptr) [[unlikely]]
      record_end();
  }

 protected:
  /// For a pending call that is used again: join() gives it a communicator, leave() takes that from it.
  void join(const std::shared_ptr<communicator_state>& its, const char* operation) noexcept {
    state_ = its;
    operation_ = operation;
    exceptions_ = uncaught_exceptions();
  }
  std::shared_ptr<communicator_state> leave() noexcept { return std::move(state_); }

 private:
  /// Goes on with it, if it does not by itself. Whether it is done.
  virtual bool advance();

  void record_end() noexcept;
  void wake_waiters() noexcept;

  std::shared_ptr<communicator_state> state_;
  const char* operation_;
  task_base* waiters_ = nullptr;
  struct noted final : trace::record, recycled<noted, most_recycled> {};
  std::unique_ptr<noted> traced_;  ///< null: it is not recorded; begins at 0: is not in flight
  int exceptions_ = uncaught_exceptions();
};

/// Operations of one runtime, to be waited for at once.
class waited_together {
 public:
  explicit waited_together(const char* call) noexcept : call_(call) {}

  /// One that is not done. Throws errc::invalid_argument where it is of another runtime than those before.
  void add(pending& one);
  bool empty() const noexcept { return events_.empty(); }
  void clear() noexcept { events_.clear(); }
  /// Blocks until one is done, as long as deadlines permit: its number, in the order in which they were added.
  std::size_t wait() const;

 private:
  const char* call_;
  std::vector<event*> events_;
  communicator_state* of_first_ = nullptr;
};

}  // namespace weft::detail
