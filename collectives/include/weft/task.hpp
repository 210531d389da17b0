// SPDX-License-Identifier: Apache-2.0
// Coroutines of a rank: each waits for its own operations, while the others go on.
//
//   weft::task<double> halves(weft::communicator& world, int peer) {
//     const double mine = 0.5;
//     double theirs = 0;
//     weft::handle sent = world.isend(std::span(&mine, 1), peer);
//     co_await world.irecv(std::span(&theirs, 1), peer);
//     co_await sent;
//     co_return mine + theirs;
//   }
//   const std::vector<double> both = weft::run_tasks(halves(world, left), halves(world, right));
//
// `co_await` of a handle, a started plan or a pending communicator gives what its `wait` returns, or throws what that
// throws. What another task cancels, waits for or drops meanwhile holds nothing any more: `co_await` throws
// errc::invalid_argument, as `wait` does. `co_await` of a task begins it, and gives what it returns, or throws what it
// throws. So does that of `when_all`, for several which take turns.
//
// Tasks run on the fiber or thread that calls `run_tasks`, and change only where one awaits something that is not done:
// they need no locks among them. A blocking call in one of them stops all. A weft::deadline is made around `run_tasks`,
// not in a task. Within a rank, fibers (`runtime::spawn`) are for what blocks; tasks, of some 100 bytes each, are for
// many short exchanges. Each time that all of them wait, all are looked at: some 10 ns for each that waits.
#pragma once

#include <weft/api.h>

#include <array>
#include <concepts>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>
#include <weft/communicator.hpp>
#include <weft/wait.hpp>

namespace weft {

template <class T>
class task;

namespace detail {

class task_loop;
template <class T>
class all_of_tasks;

/// In a ring, or alone.
class WEFT_API ring_link {
 public:
  ring_link() noexcept = default;
  ring_link(const ring_link&) = delete;
  ring_link& operator=(const ring_link&) = delete;
  ~ring_link() { leave(); }
  void leave() noexcept {
    before_->next_ = next_;
    next_->before_ = before_;
    before_ = next_ = this;
  }
  void join_before(ring_link& other) noexcept {
    leave();
    before_ = std::exchange(other.before_, this);
    before_->next_ = this;
    next_ = &other;
  }
  ring_link& next() const noexcept { return *next_; }

 private:
  ring_link *before_ = this, *next_ = this;
};

/// What every task has in its frame. In its loop's ring while it is ready or waits for an operation.
class WEFT_API task_base : public ring_link {
 public:
  /// Tasks that one awaits together; null where the loop itself does.
  struct joined {
    std::size_t left;
    task_base* by;
  };

  std::suspend_always initial_suspend() const noexcept { return {}; }
  void unhandled_exception() noexcept { failure_ = std::current_exception(); }
  struct last {
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> ended) const noexcept {
      ended.promise().end();
    }
    void await_resume() const noexcept {}
  };
  last final_suspend() const noexcept { return {}; }

  /// Begins it, for who awaits it with others. `holder` is the task that owns it.
  void begin(task_loop& in, joined& with, task_base*& holder) noexcept;
  void wait_for(pending& operation) noexcept;
  void stop_waiting() noexcept;
  /// Drops it, and whoever awaits it alone, from the inside out: however many they are, they take no stack.
  void drop() noexcept;
  void resume() { self_.resume(); }
  task_loop& loop() const noexcept { return *loop_; }
  pending* awaits() const noexcept { return awaits_; }
  task_base*& next_waiter() noexcept { return next_waiter_; }
  /// What it awaits is let go: the next of those that do.
  task_base* lose_operation() noexcept {
    awaits_ = nullptr;
    return std::exchange(next_waiter_, nullptr);
  }
  void destroy() const noexcept { self_.destroy(); }
  const std::exception_ptr& failure() const noexcept { return failure_; }

 protected:
  explicit task_base(std::coroutine_handle<> self) noexcept : self_(self) {}
  ~task_base() { stop_waiting(); }

 private:
  void end() noexcept;

  const std::coroutine_handle<> self_;
  task_loop* loop_ = nullptr;
  pending* awaits_ = nullptr;
  task_base* next_waiter_ = nullptr;  ///< for the same
  joined* with_ = nullptr;
  task_base** holder_ = nullptr;
  std::exception_ptr failure_;
};

template <class T>
class task_promise final : public task_base {
 public:
  task_promise() noexcept : task_base(std::coroutine_handle<task_promise>::from_promise(*this)) {}
  task<T> get_return_object() noexcept;
  template <std::convertible_to<T> U>
  void return_value(U&& value) {
    value_.emplace(std::forward<U>(value));
  }
  T take() {
    if (failure() != nullptr) std::rethrow_exception(failure());
    return std::move(*value_);
  }

 private:
  std::optional<T> value_;
};

template <>
class task_promise<void> final : public task_base {
 public:
  task_promise() noexcept : task_base(std::coroutine_handle<task_promise>::from_promise(*this)) {}
  task<void> get_return_object() noexcept;
  void return_void() const noexcept {}
  void take() const {
    if (failure() != nullptr) std::rethrow_exception(failure());
  }
};

/// Throws errc::invalid_argument: it has been moved away, or awaited.
[[noreturn]] WEFT_API void refuse_empty_task();

/// Whether there is nothing to wait for.
WEFT_API bool is_over(pending* operation) noexcept;

template <class Operation>
struct operation_awaiter {
  Operation& of;
  bool await_ready() const noexcept { return is_over(in_flight::of(of)); }
  template <std::derived_from<task_base> Promise>
  void await_suspend(std::coroutine_handle<Promise> by) const noexcept {
    by.promise().wait_for(*in_flight::of(of));
  }
  auto await_resume() const { return of.wait(); }
};

/// Resumes whoever is ready, in turn, until nobody is and nobody waits for an operation.
class WEFT_API task_loop {
 public:
  task_loop() noexcept = default;
  /// What has not ended then never goes on.
  ~task_loop();
  void add_ready(task_base& one) noexcept { one.join_before(ready_); }
  void add_waiting(task_base& one) noexcept { one.join_before(waiting_); }
  /// Blocks. Throws what waiting throws.
  void run();

 private:
  ring_link ready_, waiting_;
};

}  // namespace detail

/// A coroutine that returns a T, by co_return. It begins when it is awaited or run, once: what has been moved away
/// throws errc::invalid_argument there. Movable. A task that is
/// dropped before it has ended is gone with its locals: handles in flight among these are waited for, or, where an
/// exception is unwinding, their communicator is aborted.
template <class T = void>
class [[nodiscard]] task {
  static_assert(!std::is_reference_v<T>, "weft: a task returns a value, or nothing");

 public:
  using promise_type = detail::task_promise<T>;

  explicit task(promise_type& made) noexcept : made_(&made) {}
  task(task&& other) noexcept : made_(std::exchange(other.made_, nullptr)) {}
  task& operator=(task&& other) noexcept {
    std::swap(made_, other.made_);
    return *this;
  }
  ~task() {
    if (made_ != nullptr) made_->destroy();
  }

 private:
  template <class U>
  friend class detail::all_of_tasks;
  promise_type& promise() const noexcept { return static_cast<promise_type&>(*made_); }

  detail::task_base* made_;
};

template <class T>
task<T> detail::task_promise<T>::get_return_object() noexcept {
  return task<T>(*this);
}
inline task<void> detail::task_promise<void>::get_return_object() noexcept { return task<void>(*this); }

namespace detail {

/// Begins all and takes what they return, once they have ended, in a vector where they return something; else throws
/// what the first of them threw.
template <class T>
class all_of_tasks {
 public:
  explicit all_of_tasks(std::span<task<T>> all) : all_(all) {
    for (const task<T>& each : all_)
      if (each.made_ == nullptr) refuse_empty_task();
  }
  void begin(task_loop& in, task_base* by) noexcept {
    with_ = {all_.size(), by};
    for (task<T>& each : all_) each.made_->begin(in, with_, each.made_);
  }
  bool empty() const noexcept { return all_.empty(); }
  auto take() const {
    if constexpr (std::is_void_v<T>) {
      for (const task<T>& each : all_) each.promise().take();
    } else {
      std::vector<T> values;
      values.reserve(all_.size());
      for (const task<T>& each : all_) values.push_back(each.promise().take());
      return values;
    }
  }
  T take_first() const { return all_[0].promise().take(); }

 private:
  std::span<task<T>> all_;
  task_base::joined with_{};
};

/// `Tasks` holds them.
template <class T, class Tasks>
struct tasks_awaiter {
  explicit tasks_awaiter(Tasks&& all) : held(std::move(all)), of(std::span<task<T>>(held)) {}
  tasks_awaiter(const tasks_awaiter&) = delete;
  tasks_awaiter& operator=(const tasks_awaiter&) = delete;

  bool await_ready() const noexcept { return of.empty(); }
  template <std::derived_from<task_base> Promise>
  void await_suspend(std::coroutine_handle<Promise> by) noexcept {
    of.begin(by.promise().loop(), &by.promise());
  }
  auto await_resume() const { return of.take(); }

  Tasks held;
  all_of_tasks<T> of;
};

template <class T>
struct task_awaiter : tasks_awaiter<T, std::array<task<T>, 1>> {
  using tasks_awaiter<T, std::array<task<T>, 1>>::tasks_awaiter;
  T await_resume() const { return this->of.take_first(); }
};

template <class T>
auto run_all(std::span<task<T>> tasks) {
  all_of_tasks<T> all(tasks);
  task_loop loop;
  all.begin(loop, nullptr);
  loop.run();
  return all.take();
}

}  // namespace detail

template <class Operation>
requires(std::same_as<std::remove_reference_t<Operation>, handle> ||
         std::same_as<std::remove_reference_t<Operation>, plan> ||
         std::same_as<std::remove_reference_t<Operation>, pending_communicator>) auto
operator co_await(Operation&& of) noexcept {
  return detail::operation_awaiter<std::remove_reference_t<Operation>>{of};
}

template <class T>
auto operator co_await(task<T>&& one) {
  return detail::task_awaiter<T>(std::array<task<T>, 1>{std::move(one)});
}

/// To be awaited: begins all, which take turns, and waits for all. Gives a vector of what they return, in their order,
/// nothing where that is nothing; or throws what the first of them has thrown, once all have ended.
template <class T>
auto when_all(std::vector<task<T>> tasks) {
  return detail::tasks_awaiter<T, std::vector<task<T>>>(std::move(tasks));
}
template <class T, std::same_as<task<T>>... Others>
auto when_all(task<T> first, Others... others) {
  return detail::tasks_awaiter<T, std::array<task<T>, 1 + sizeof...(Others)>>({std::move(first), std::move(others)...});
}

/// The same, blocking, for who is no task: a rank's program, or a fiber of it. While none of them can go on this waits,
/// as wait_any does, for the first operation that ends. All operations are of one runtime's communicators. Throws
/// timed_out where a weft::deadline passes, and drops the tasks.
template <class T>
auto run_tasks(std::vector<task<T>> tasks) {
  return detail::run_all<T>(tasks);
}
template <class T, std::same_as<task<T>>... Others>
requires(sizeof...(Others) > 0) auto run_tasks(task<T> first, Others... others) {
  std::array<task<T>, 1 + sizeof...(Others)> all{std::move(first), std::move(others)...};
  return detail::run_all<T>(all);
}
/// Of one, what it returns.
template <class T>
T run_tasks(task<T> one) {
  std::array<task<T>, 1> all{std::move(one)};
  if constexpr (std::is_void_v<T>)
    detail::run_all<T>(all);
  else
    return std::move(detail::run_all<T>(all)[0]);
}

}  // namespace weft
