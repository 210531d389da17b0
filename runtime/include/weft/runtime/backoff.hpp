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

/// Grows the pause between two polls that found nothing: spin, then yield, then sleep. One thread's.
///
/// Spinning answers fastest while the other side runs on another core. On a shared core each poll without a yield
/// costs the other side a scheduler quantum (4 ms a message), with a yield 3 to 6 us: hence few spins (0.5 us) and many
/// yields. Waking from even the shortest sleep takes 70 to 95 us (the kernel's timer slack is 50 us), so it is put off
/// for about as long: 512 yields take 87 us on a core that nobody else wants. Then it costs at most twice what the best
/// choice would have. At the longest sleep an idle thread takes 1 to 2 % of a core: who may wait for long uses `rest`.
class backoff {
 public:
  using duration = std::chrono::microseconds;

  static constexpr int spins = 32;
  static constexpr int yields = 512;
  static constexpr duration shortest_sleep{20};
  static constexpr duration longest_sleep{1000};

  /// Pauses once. `sleep_for(duration)` does the sleeping, when it has come to that; it may return early.
  template <class Sleeper>
  void pause(Sleeper&& sleep_for) {
    if (pauses_ < spins + yields) {
      ++pauses_ <= spins ? pause_core() : static_cast<void>(sched_yield());
      return;
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
  int pauses_ = 0;
  duration sleep_ = shortest_sleep;
};

}  // namespace weft
