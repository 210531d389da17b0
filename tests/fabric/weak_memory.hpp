// SPDX-License-Identifier: Apache-2.0
// A machine whose memory is as weak as C++ lets it be. Code runs on it that is compiled against it: modelled_shm.hpp.
//
// Its threads are contexts of one thread, and a seed says which goes on at every atomic operation. A load finds any of
// the stores that neither coherence, nor what happens before it, nor the order of all seq_cst operations forbids
// (C++20 [intro.races], [atomics.order]), and the seed says which. Memory that is not atomic is watched: where an
// access to it and another one, of which one writes, are in no order the run has failed, and where all threads that
// are left sleep. Relacy, loom and CDSChecker do the same.
//
//     store  keeps the view that it hands to whoever acquires it: of its thread, or at that's release fence
//     view   what happens before a point of a thread, and what seq_cst fences show it beside that
//     look   which store of a place a thread has found or made, and when: nothing that this happens before finds an
//            earlier one
//
// It makes fewer runs than C++ allows: stores of a place are modified in the order in which the run makes them, and a
// load finds nothing that is stored later in the run. It has no read-modify-writes.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <source_location>
#include <string>
#include <unordered_map>
#include <vector>
#include <weft/runtime/context.hpp>
#include <weft/runtime/stack.hpp>

#include "fabric/simulation/draws.hpp"

namespace weft_test {

class weak_memory {
 public:
  static constexpr std::size_t most_threads = 4;

  /// A place in the code that orders something.
  using site = std::source_location;
  static bool are_same(const site& one, const site& other) noexcept;

  /// `weakened`: the atomic operation or fence of that place orders nothing.
  explicit weak_memory(std::uint64_t seed, std::optional<site> weakened = {});
  weak_memory(const weak_memory&) = delete;
  weak_memory& operator=(const weak_memory&) = delete;
  ~weak_memory();

  /// Watches this memory, of which parts begin at multiples of `stride` bytes; it is known as `name`.
  void watch(const void* begin, std::size_t bytes, std::size_t stride, const std::string& name);
  /// Runs the bodies, each as a thread, at most `most_threads`. What went wrong; empty where nothing did. Once.
  /// Threads that have not ended by then are left in the middle: what they own is to be elsewhere.
  std::string run(const std::vector<std::function<void()>>& bodies);
  /// Places of all orders but relaxed that the run has come to.
  const std::vector<site>& sites() const noexcept { return sites_; }

  /// That on which this code runs; null outside of `run`.
  static weak_memory* running() noexcept { return running_now; }

  // By its threads:

  draws& random() noexcept { return random_; }
  /// Others may go on first: before an atomic operation, and where this thread looks again and again.
  void take_turn();
  void give_way();
  [[noreturn]] void fail(const char* why);

  // `bits` is what the newest store has left there.
  std::uint64_t load(const void* at, std::uint64_t bits, std::memory_order order, const site& where);
  void store(const void* at, std::uint64_t bits, std::uint64_t value, std::memory_order order, const site& where);
  void fence(std::memory_order order, const site& where);

  /// What is not atomic; ignored where it is not watched.
  void note_read(const void* begin, std::size_t bytes);
  void note_write(const void* begin, std::size_t bytes);

  /// A futex: the upper half of the word at `at`, whose newest bits those are. Who comes to sleep finds at least what
  /// is known to whoever has woken those that slept there before; that is all that the two order.
  void sleep(const void* at, std::uint64_t bits, std::uint32_t expected);
  void wake(const void* at, std::uint64_t bits);

 private:
  using times = std::array<std::uint32_t, most_threads>;  // of each thread
  static void join(times& mine, const times& its) noexcept;

  struct view {
    times happened{};         // before this
    times fenced{};           // before a seq_cst fence that is before one that happens before this
    std::uint64_t fence = 0;  // the latest seq_cst fence that happens before this
    void join(const view& its) noexcept;
  };
  struct look {
    std::size_t thread = 0;
    std::uint32_t time = 0;
    std::size_t index = 0;
    std::uint64_t in_order = 0;  // of a seq_cst operation: its number
  };
  struct stored {
    std::uint64_t value = 0;
    view handed;
  };
  struct place {
    std::vector<stored> stores;  // none: what is there is not known yet
    std::vector<look> looks;
    times loaded{}, changed{};  // by the latest atomic operations
    times read{}, written{};    // by the latest others
    std::size_t woken = 0;      // which store is known to who has woken those that slept here
  };
  struct watched {
    const std::byte* begin;
    std::size_t bytes, stride;
    std::string name;
  };
  struct thread {
    view now;
    view offered;   // to be acquired by a fence
    view released;  // at the latest release fence
    const void* sleeps_on = nullptr;
    bool ended = false;
    const std::function<void()>* body = nullptr;
    weft::stack memory;
    std::optional<weft::context> own;
  };

  static void begin_thread(void* machine);
  static inline weak_memory* running_now = nullptr;

  thread& self() noexcept { return threads_[current_]; }
  std::memory_order order_at(const site& where, std::memory_order order);
  place& place_at(const void* at, std::uint64_t bits);
  std::size_t earliest_found(const place& of, bool in_order) const;
  std::size_t draw_store(const place& of, std::size_t earliest);
  void note_look(place& of, std::size_t index, bool in_order);
  [[noreturn]] void leave() noexcept;
  void check_order(const times& earlier, const void* at, const char* what);
  template <class Each>
  void for_watched(const void* begin, std::size_t bytes, Each&& each);
  std::string name_of(const void* at) const;
  /// One of those goes on that can: of the others, or of all.
  void go_on(bool with_self);

  static constexpr std::uint64_t most_steps = 200'000;

  draws random_;
  const std::optional<site> weakened_;
  std::size_t steady_;  // of so many operations one lets others go on
  std::vector<site> sites_;
  std::vector<watched> watched_;
  std::unordered_map<const void*, place> places_;
  std::vector<thread> threads_;
  std::size_t current_ = 0;
  std::uint64_t order_ = 0;  // of the seq_cst operations: the latest
  times fenced_{};           // before the latest fence in it
  std::uint64_t steps_ = 0;
  std::optional<weft::context> home_;
  std::string wrong_;
};

}  // namespace weft_test
