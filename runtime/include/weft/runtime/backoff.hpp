// SPDX-License-Identifier: Apache-2.0
// How to wait by polling without taking a core from whoever has work to do.
#pragma once

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <span>
#include <thread>

namespace weft {

/// Tells the core that this is a loop that waits.
inline void pause_core() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");  // tens of cycles, as that: a yield is none on most cores
#endif
}

/// Asks for memory that is read next, so that it comes to this core meanwhile.
inline void ask_for(std::span<const std::byte> memory) noexcept {
  constexpr std::size_t cache_line = 64;
  for (std::size_t i = 0; i < memory.size(); i += cache_line) __builtin_prefetch(memory.data() + i);
}

/// What a thread's yields have cost it.
class yield_experience {
 public:
  using time_point = std::chrono::steady_clock::time_point;
  /// A yield that takes so long gave the core to something that computes, for a scheduler's quantum.
  static constexpr std::chrono::nanoseconds quantum{2'000'000};
  /// For so long that is believed to go on.
  static constexpr std::chrono::nanoseconds memory{10'000'000};

  constexpr void learn(time_point begin, time_point end) noexcept {
    if (end - begin > quantum) dear_until_ = end + memory;
  }
  /// Whether yields cost a quantum now.
  bool dear() const noexcept { return dear_until_ != time_point{} && std::chrono::steady_clock::now() < dear_until_; }

 private:
  time_point dear_until_{};
};

/// Grows the pause between two polls that found nothing: spin, then yield, then sleep. One thread's.
///
/// Spinning answers fastest while the other side runs on another core. On a shared core each poll without a yield
/// costs the other side a scheduler quantum (4 ms a message), with a yield 3 to 6 us: hence few spins (0.5 us) and many
/// yields. But where something else computes on the core each yield costs a quantum itself: a thread that has lost one
/// yields no more for a while, but spins and then sleeps, since who wakes is given the core at once.
///
/// Waking from even the shortest sleep takes 70 to 95 us (the kernel's timer slack is 50 us), so it is put off for
/// about as long: 512 yields take 87 us on a core that nobody else wants. Then it costs at most twice what the best
/// choice would have. At the longest sleep an idle thread takes 1 to 2 % of a core: who may wait for long uses `rest`.
///
/// Where all who wait for each other have a core each nobody gains by a yield: they spin for about as long instead, and
/// make no system call before they sleep.
class backoff {
 public:
  using duration = std::chrono::microseconds;

  enum class cores : bool { may_be_shared, one_each };

  static constexpr int spins = 32;
  static constexpr int yields = 512;
  static constexpr int spins_in_place_of_yields = 2048;
  static constexpr duration shortest_sleep{20};
  static constexpr duration longest_sleep{1000};

  explicit backoff(cores of_those_who_wait = cores::may_be_shared) noexcept
      : yields_(of_those_who_wait == cores::may_be_shared),
        pauses_before_sleep_(spins + (yields_ ? yields : spins_in_place_of_yields)) {}

  /// Pauses once. `sleep_for(duration)` does the sleeping, when it has come to that; it may return early.
  template <class Sleeper>
  void pause(Sleeper&& sleep_for) {
    if (!sleeps()) {
      return ++pauses_ <= spins || !yields_ || learned.dear() ? pause_core() : yield();
    }
    sleep_for(sleep_);
    sleep_ = std::min(2 * sleep_, longest_sleep);
  }
  void pause() {
    pause([](duration time) { std::this_thread::sleep_for(time); });
  }

  /// Goes on with yields: whoever waits has spun already.
  void skip_spins() noexcept { pauses_ = std::max(pauses_, spins); }

  /// Something happened: begin again with spinning.
  void reset() noexcept {
    pauses_ = 0;
    sleep_ = shortest_sleep;
  }

  /// True when the next pause will sleep.
  bool sleeps() const noexcept { return pauses_ >= pauses_before_sleep_; }

 private:
  static void yield() noexcept {
    const auto begin = std::chrono::steady_clock::now();
    sched_yield();
    learned.learn(begin, std::chrono::steady_clock::now());
  }

  static inline thread_local yield_experience learned{};

  bool yields_;
  int pauses_before_sleep_;
  int pauses_ = 0;
  duration sleep_ = shortest_sleep;
};

}  // namespace weft
