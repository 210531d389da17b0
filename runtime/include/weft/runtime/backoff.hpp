// How to wait by polling without taking a core from whoever has work to do.
#pragma once

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace weft {

/// Tells the core that this is a loop that waits.
inline void pause_core() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// What a thread has learned from how long its yields took.
struct yield_experience {
  static constexpr int least_spins = 32;
  static constexpr int most_spins = 512;
  static constexpr int longest_without_yields = 256;
  /// Less than it takes to change to another thread and back.
  static constexpr std::chrono::nanoseconds switching{1'000};
  /// More than a thread of a job that waits itself keeps the core.
  static constexpr std::chrono::nanoseconds quantum{500'000};

  int spins = least_spins;       ///< before the first yield
  int waits_without_yields = 0;  ///< that are still to come

  constexpr void learn(std::chrono::nanoseconds yield) noexcept {
    if (yield > quantum) {
      spins = most_spins;
      waits_without_yields = longest_without_yields;
    } else {
      spins = yield < switching ? std::min(spins + least_spins / 2, most_spins) : least_spins;
    }
  }
};

/// Grows the pause between two polls that found nothing: spin, then yield, then sleep. One thread's.
///
/// Spinning answers fastest while the other side runs on another core. On a shared core each poll without a yield
/// costs the other side a scheduler quantum (4 ms a message), with a yield 3 to 6 us: hence few spins and many yields
/// there. Which of the two it is a thread learns from its yields. One that comes back at once gave the core to nobody:
/// then spinning takes it from nobody. One that takes as long as others of the job take to answer gave it to them. One
/// that takes a quantum gave it to something that computes, perhaps not of this job: from then on the thread spins and
/// sleeps for a while and yields no more, since who wakes is given the core at once.
///
/// Waking from even the shortest sleep takes 70 to 95 us (the kernel's timer slack is 50 us), so it is put off for
/// about as long: 512 yields take 87 us on a core that nobody else wants. Then it costs at most twice what the best
/// choice would have. At the longest sleep an idle thread takes 1 to 2 % of a core: who may wait for long uses `rest`.
class backoff {
 public:
  using duration = std::chrono::microseconds;

  static constexpr int spins = yield_experience::least_spins;
  static constexpr int yields = 512;  ///< fewer where there are more spins
  static constexpr duration shortest_sleep{20};
  static constexpr duration longest_sleep{1000};

  /// Pauses once. `sleep_for(duration)` does the sleeping, when it has come to that; it may return early.
  template <class Sleeper>
  void pause(Sleeper&& sleep_for) {
    if (pauses_ < spins + yields) {
      if (++pauses_ <= learned.spins) return pause_core();
      if (learned.waits_without_yields == 0) return yield();
      if (pauses_ == spins + yields) --learned.waits_without_yields;
      return pause_core();
    }
    sleep_for(sleep_);
    sleep_ = std::min(2 * sleep_, longest_sleep);
  }
  void pause() {
    pause([](duration time) { std::this_thread::sleep_for(time); });
  }

  /// Something happened: begin again with spinning.
  void reset() noexcept {
    pauses_ = 0;
    sleep_ = shortest_sleep;
  }

  /// True when the next pause will sleep.
  bool sleeps() const noexcept { return pauses_ >= spins + yields; }

 private:
  static void yield() noexcept {
    const auto begin = std::chrono::steady_clock::now();
    sched_yield();
    learned.learn(std::chrono::steady_clock::now() - begin);
  }

  static inline thread_local yield_experience learned{};

  int pauses_ = 0;
  duration sleep_ = shortest_sleep;
};

}  // namespace weft
