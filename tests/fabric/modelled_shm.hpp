// SPDX-License-Identifier: Apache-2.0
// arena_rounds, arena_ring, arena_boards and the sleep on a shared word as they are, on a machine of weak memory: in
// weft::modelled, where `std` has atomics of that machine, and in place of the runtime is what lets a seed say how
// one waits. For one file of a program.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <utility>
#include <vector>
#include <weft/runtime/backoff.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/fiber.hpp>
#include <weft/runtime/memory_budget.hpp>
#include <weft/runtime/progress.hpp>
#include <weft/runtime/rest.hpp>
#include <weft/runtime/scheduler.hpp>
#include <weft/runtime/wait_for.hpp>

#include "fabric/weak_memory.hpp"

namespace weft::modelled {

using weft_test::weak_memory;

/// What code in weft::modelled finds as `std`.
namespace std {

using namespace ::std;

/// Of an object that lies elsewhere. Outside of a run there is one thread.
template <class T>
class atomic_ref {
 public:
  using where = ::std::source_location;

  explicit atomic_ref(T& object) noexcept : object_(object) {}

  T load(memory_order order, const where& from = where::current()) const noexcept {
    weak_memory* const on = weak_memory::running();
    if (on == nullptr) return object_;
    on->take_turn();
    return static_cast<T>(on->load(&object_, static_cast<uint64_t>(object_), order, from));
  }
  void store(T value, memory_order order, const where& from = where::current()) const noexcept {
    if (weak_memory* const on = weak_memory::running()) {
      on->take_turn();
      on->store(&object_, static_cast<uint64_t>(object_), static_cast<uint64_t>(value), order, from);
    }
    object_ = value;
  }

 private:
  T& object_;
};

template <class T>
class atomic {
 public:
  using where = ::std::source_location;
  static constexpr bool is_always_lock_free = true;

  atomic(T value = {}) noexcept : value_(value) {}
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;

  T load(memory_order order, const where& from = where::current()) const noexcept {
    return atomic_ref(value_).load(order, from);
  }
  void store(T value, memory_order order, const where& from = where::current()) noexcept {
    atomic_ref(value_).store(value, order, from);
  }

 private:
  mutable T value_;
};

inline void atomic_thread_fence(memory_order order, const source_location& from = source_location::current()) noexcept {
  weak_memory* const on = weak_memory::running();
  if (on == nullptr) return;
  on->take_turn();
  on->fence(order, from);
}

inline void* memcpy(void* to, const void* from, size_t bytes) {
  if (weak_memory* const on = weak_memory::running()) {
    on->note_read(from, bytes);
    on->note_write(to, bytes);
  }
  return ::std::memcpy(to, from, bytes);
}

}  // namespace std

struct sleeper {
  virtual void rouse() noexcept = 0;

 protected:
  ~sleeper() = default;
};

/// What moves a process's messages. It rings once, and then nobody sleeps any more.
class progress {
 public:
  /// By another thread.
  void ring() noexcept {
    rung_.store(1, ::std::memory_order_seq_cst);
    if (listens_ != nullptr) listens_->rouse();
  }
  bool help() noexcept { return rung_.load(::std::memory_order_seq_cst) != 0; }

 private:
  friend class listener;
  std::atomic<::std::uint32_t> rung_{0};
  sleeper* listens_ = nullptr;
};

class listener {
 public:
  listener(progress& by, sleeper& who) noexcept : by_(by) { by_.listens_ = &who; }
  ~listener() { by_.listens_ = nullptr; }

 private:
  progress& by_;
};

class rest {
 public:
  explicit rest(progress& by) noexcept : by_(by) {}
  template <class Sleep>
  void pause(Sleep&& sleep) {
    if (weak_memory::running()->random().one_in(2)) sleep(::std::chrono::nanoseconds(0), &by_);
  }
  void skip_spins() noexcept {}
  void reset() noexcept { weak_memory::running()->give_way(); }

 private:
  progress& by_;
};

struct fiber {
  static fiber* current() noexcept { return nullptr; }
};

struct scheduler {
  static scheduler* current() noexcept { return nullptr; }
  static void yield() noexcept {}
  static void sleep_on(const weft::scheduler::shared_word&, ::std::chrono::nanoseconds, progress*) noexcept {}
};

/// The loop of every wait, with fewer looks before it pauses.
template <class Awaited>
bool wait_for(Awaited& it) {
  struct hasty {
    Awaited& it;
    int most;
    bool has_come() const { return it.has_come(); }
    bool is_given_up() const { return it.is_given_up(); }
    int looks() const { return ::std::min(it.looks(), most); }
    void came_after(int looks) const { it.came_after(looks); }
    void before_pauses() const { it.before_pauses(); }
    void pause() const { it.pause(); }
  } mine{it, weak_memory::running()->random().below(3)};
  return weft::wait_for(mine);
}

}  // namespace weft::modelled

/// The upper half of a stamp, which is a word of 8 bytes.
inline long modelled_futex(long, const void* word, int what, std::uint32_t expected, const timespec*, const void*,
                           int) {
  weft_test::weak_memory& on = *weft_test::weak_memory::running();
  const void* const stamp = static_cast<const std::byte*>(word) - (std::endian::native == std::endian::little ? 4 : 0);
  std::uint64_t bits = 0;
  const auto look = [&] { std::memcpy(&bits, stamp, sizeof bits); };
  if (what == FUTEX_WAKE) {
    on.take_turn();
    look();
    on.wake(stamp, bits);
  } else {  // at once behind the last poll: a ring between them would be heard when the time has passed
    look();
    on.sleep(stamp, bits, expected);
  }
  return 0;
}

// Their headers, too, which come before any other use of them. Of the arena all that its boards need stands in for it.
#define fabric modelled
#define syscall modelled_futex
#include <fabric/shm/arena_ring.cpp>
#include <fabric/shm/arena_rounds.cpp>
#include <fabric/shm/shared_sleep.cpp>
#define arena whole_arena
#include <weft/fabric/arena.hpp>
#undef arena

namespace weft::modelled {

class arena {
 public:
  static constexpr ::std::size_t boards = 3;  // few, so that they are soon given again

  explicit arena(::std::size_t processes) : all_(processes) {
    for (auto& each : all_) each = ::std::make_unique<::std::array<arena_board, boards>>();
  }
  arena_board& board(int process, ::std::size_t index) const noexcept {
    return (*all_[static_cast<::std::size_t>(process)])[index];
  }
  ::std::size_t size() const noexcept { return all_.size(); }
  arena_heap* heap() const noexcept { return nullptr; }

 private:
  ::std::vector<::std::unique_ptr<::std::array<arena_board, boards>>> all_;
};

// For where there is a heap.
inline ::std::byte* arena_heap::take(::std::size_t, memory_use) { return nullptr; }
inline void arena_heap::give_back(::std::byte*, ::std::size_t) noexcept {}

}  // namespace weft::modelled

#include <fabric/shm/arena_boards.cpp>
#undef syscall
#undef fabric
