// SPDX-License-Identifier: Apache-2.0
// Runs fibers on one thread, each until it waits.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <weft/runtime/fiber.hpp>
#include <weft/runtime/single_writer.hpp>

namespace weft {

class progress;

/// The fibers of one thread. They take turns in the order in which they became runnable, and change only where one
/// waits or yields. All functions are for that thread (the one that calls `run`), before or within `run`, unless they
/// say otherwise.
///
///     scheduler fibers;
///     fibers.set_idle([&] {
///       if (progress.poll()) pause.reset();
///       else pause.pause([&](auto longest, auto* rung_by) { fibers.sleep(longest, rung_by); });
///     });
///     fibers.spawn([&] { ... });
///     fibers.run();
class scheduler {
 public:
  /// `time` is the clock of its fibers' deadlines and must outlive it; `memory` is where their stacks are counted.
  explicit scheduler(std::size_t stack_size = stack::default_size, const clock& time = steady_clock_source(),
                     std::shared_ptr<memory_budget> memory = nullptr);
  scheduler(const scheduler&) = delete;
  scheduler& operator=(const scheduler&) = delete;
  /// Not within `run`. Fibers that never ran are destroyed with their functions.
  ~scheduler();

  /// The scheduler that runs on this thread, or null outside of `run`.
  static scheduler* current() noexcept;

  /// Makes a fiber that will call `function()` (which may be movable only) within `run`; it is runnable at once, behind
  /// the others. The reference holds until the function has returned; wait for that with an event that the function
  /// sets. Allocates nothing when a stack is free. Throws what `stack` throws.
  template <class Function>
  fiber& spawn(Function&& function);

  /// Runs fibers until all have ended, those that they spawned included. When exceptions left fibers' functions, it
  /// throws the first of them, after all the others have ended: a fiber that waits for a failed one needs to be told.
  /// One scheduler a thread at a time: throws `error` (invalid_argument) within another `run`.
  void run();

  /// Called by `run` when nothing is runnable, again and again until something is: it polls, and decides itself whether
  /// to yield or to sleep (with `sleep`, which a wake ends). It must not throw and runs on the thread's own stack, in
  /// no fiber. Without one, `run` sleeps until another thread wakes a fiber or a deadline passes.
  void set_idle(std::function<void()> hook) { idle_ = std::move(hook); }

  /// Called by `run` after every `busy_interval` switches while fibers are runnable, so that what an idle hook polls
  /// does not starve behind busy fibers. It should poll once; it must not throw nor wait.
  void set_busy(std::function<void()> hook) { busy_ = std::move(hook); }
  static constexpr unsigned busy_interval = 64;

  /// For the idle hook: sleeps until another thread wakes a fiber of this scheduler, or until `longest` has passed, or,
  /// where it is given a progress (see rest), until that rings. Returns at once when something has become runnable
  /// meanwhile, or when a last poll of that progress finds something. False where only time has passed.
  bool sleep(std::chrono::nanoseconds longest, progress* rung_by = nullptr) noexcept;

  /// A futex in memory that processes share: whoever changes it wakes those that sleep on it.
  struct shared_word {
    const void* at = nullptr;
    std::uint32_t expected = 0;
  };
  /// The same for a fiber that waits until the word is no longer as expected: its thread sleeps, unless others of its
  /// fibers are runnable.
  bool sleep_on(const shared_word& word, std::chrono::nanoseconds longest, progress* rung_by) noexcept;

  /// Lets every other runnable fiber run first. Does nothing outside of a fiber. A coroutine is left here, where it is
  /// left where it would wait.
  static void yield() noexcept;

  /// Suspends the running fiber until fiber::wake; at once when that came already. For `event`; only in a fiber.
  void park() noexcept;
  /// The same until `deadline` at the latest: false when it passed. The wake may still come: the caller must either
  /// make sure that it never does or park again for it.
  bool park_until(clock::time_point deadline) noexcept;

  /// How many fibers have not ended.
  std::size_t size() const noexcept { return live_; }

  /// What another thread sees of it.
  struct glimpse {
    std::uint64_t switches = 0;     ///< the same as before: no other fiber has had a turn since
    const void* running = nullptr;  ///< a fiber, which may have ended since; null: none
    bool others_ready = false;      ///< some fiber is runnable beside it
  };
  /// Any thread, as long as the scheduler lives. The three may be of different moments: one look proves nothing.
  glimpse look() const noexcept;

 private:
  friend class fiber;

  fiber& add(stack&& memory, void* callable, fiber::function call) noexcept;
  void make_ready(fiber& woken) noexcept;
  void wake_from_elsewhere(fiber& woken) noexcept;
  void take_remote() noexcept;
  void take_expired() noexcept;
  void set_deadline(fiber& timed, clock::time_point deadline) noexcept;
  void clear_deadline(fiber& timed) noexcept;
  void switch_away(fiber& from) noexcept;
  void resume(fiber& next) noexcept;
  void recycle(fiber& ended) noexcept;
  void wait_for_work() noexcept;
  void be_fair() noexcept;
  bool fall_asleep() noexcept;
  void sleep_until_woken(const std::chrono::nanoseconds* longest) noexcept;
  template <class Sleep>
  bool sleep_by(std::chrono::nanoseconds longest, progress* rung_by, Sleep&& sleep) noexcept;
  bool wake_up() noexcept;
  void rouse() noexcept;
  void keep(std::exception_ptr failure) noexcept;
  [[noreturn]] void finish(fiber& ended) noexcept;

  static std::uint32_t asleep_mark() noexcept;  // its low half
  static fiber* asleep() noexcept { return reinterpret_cast<fiber*>(std::uintptr_t{1}); }

  const clock& time_;
  stack_pool stacks_;
  std::size_t live_ = 0;
  fiber_queue ready_;
  single_writer<fiber*> running_{nullptr};
  fiber* ended_ = nullptr;           // left its stack for good, to be recycled
  context* home_ = nullptr;          // run()'s own
  trace::track* outside_ = nullptr;  // the thread's, where no fiber runs
  single_writer<std::uint64_t> switches_{0};
  std::uint64_t busy_at_ = busy_interval;  // that many switches: the busy hook's turn
  fiber* earliest_ = nullptr;              // fibers with deadlines, in their order
  fiber* latest_ = nullptr;
  std::function<void()> idle_;
  std::function<void()> busy_;
  std::exception_ptr failure_;

  // Fibers woken by other threads, last first; or asleep(), while this thread sleeps. Its low half is also a futex.
  alignas(64) std::atomic<fiber*> remote_{nullptr};
};

template <class Function>
fiber& scheduler::spawn(Function&& function) {
  using callable = std::decay_t<Function>;
  static_assert(std::is_invocable_v<callable&>, "a fiber's function takes no arguments");
  static_assert(sizeof(callable) <= 4096 && alignof(callable) <= fiber::alignment, "keep large captures elsewhere");
  stack memory = stacks_.take();
  auto* kept = new (memory.top() - fiber::room(sizeof(callable))) callable(std::forward<Function>(function));
  return add(std::move(memory), kept, [](void* object, fiber::task what) {
    auto destroy = [](callable* done) { std::destroy_at(done); };
    std::unique_ptr<callable, decltype(destroy)> owned(static_cast<callable*>(object), destroy);
    if (what == fiber::task::run_and_destroy) static_cast<void>((*owned)());
  });
}

}  // namespace weft
