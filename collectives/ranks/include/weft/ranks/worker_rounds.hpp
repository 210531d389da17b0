// SPDX-License-Identifier: Apache-2.0
// How the workers of a process wait for each other where ranks of theirs meet.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>
#include <weft/runtime/backoff.hpp>
#include <weft/runtime/event.hpp>
#include <weft/runtime/progress.hpp>

namespace weft::detail {

/// What each worker shows the others of a communicator's calls, in rounds of all of them:
///
///     begin -> write the value -> publish -> await some or all of the others, read their values -> wake
///
/// A value is written again two rounds later: who shows one has seen all others in a round since the one before it, so
/// they have read that. Of a round that shows none a later stamp says as much.
///
/// Once a round is *held*, by one who has seen all others in it, nobody leaves who has published there, whatever fails.
///
/// Who waits is woken by who has published: when that ends its round, or before it sleeps itself; and by a failure,
/// which ends the wait of who may leave.
///
/// For one thread at a time of each worker. What blocks spins, lets the worker's other fibers run, and sleeps.
class worker_rounds {
 public:
  /// The longest value that travels with its stamp, and the longest.
  static constexpr std::size_t line_bytes = 504;
  static constexpr std::size_t slot_bytes = 16 << 10;

  enum class found {
    here,     ///< it has published in this round, or in a later one
    differs,  ///< in this round, of another call
    failed,   ///< the worker has left, or the communicator has failed, and the round after which nobody leaves is not
              ///< held
  };

  worker_rounds(std::size_t workers, progress& by) : by_(by), boards_(workers) {}

  std::size_t size() const noexcept { return boards_.size(); }

  /// Makes room for values that are longer than a line, which else the first round that shows one makes. By every rank
  /// before its first call, or by none. Throws std::bad_alloc.
  void make_room() {
    std::call_once(roomy_, [this] {
      for (board& each : boards_) each.slots = std::make_unique<std::array<slot, depth>>();
    });
  }

  /// Whether so short a value is in one cache line with its stamp.
  static constexpr bool comes_with_stamp(std::size_t bytes) noexcept {
    return bytes + sizeof(std::uint64_t) <= cache_line;
  }

  class round;

  /// The workers have these ranks where waits for them are recorded. Before any round.
  void name_workers(std::vector<int> ranks) { names_ = std::move(ranks); }

  /// The worker takes part in no further round: who waits for it there has waited in vain. Any thread.
  void leave(std::size_t worker) noexcept;

  /// The communicator has failed: who waits is told, unless he must not leave. Any thread; perhaps several times.
  void fail() noexcept;
  /// relaxed: it stays so, and what it failed with is read under the messenger's token.
  bool has_failed() const noexcept { return (state_.load(std::memory_order_relaxed) & failed) != 0; }

 private:
  class awaited_round;

  static constexpr std::uint64_t failed = 1;     ///< of `state_`: the communicator has; above it the latest round held
  static constexpr std::size_t depth = 2;        ///< rounds after which a value is written again
  static constexpr std::size_t alignment = 128;  ///< two cache lines, as processors fetch them in pairs

  /// A value ends at its stamp, so that a short one is in the same cache line.
  struct alignas(alignment) line {
    std::array<std::byte, line_bytes> value;
    std::atomic<std::uint64_t> stamp{0};  ///< round << 32 | a hash of the call

    std::byte* begin(std::size_t bytes) noexcept {
      return value.data() + (line_bytes - bytes) / value_alignment * value_alignment;
    }
  };
  static constexpr std::size_t value_alignment = 8;
  static constexpr std::size_t cache_line = 64;
  using slot = std::array<std::byte, slot_bytes>;

  /// A worker's: written by it and read by the others, in `asleep` written by both.
  struct board {
    std::array<line, depth> lines;
    alignas(alignment) std::atomic<std::uint32_t> asleep{0};  ///< 1: `bell` is to be set by who makes it 0
    std::atomic<bool> left{false};
    event bell;
    std::unique_ptr<std::array<slot, depth>> slots;  ///< once it has had a value that needs one
    alignas(alignment) std::uint64_t rounds = 0;     // from here on the worker's alone
    int spins = most_spins;
  };

  /// Looks at a word before this thread's core is given to others: some 20 us at most, which is what that takes.
  static constexpr int most_spins = 1024;
  static constexpr int least_spins = 8;

  /// Whether a stamp is of round `number` or a later one.
  static bool has_come(std::uint64_t stamp, std::uint64_t number) noexcept {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(stamp >> 32) - static_cast<std::uint32_t>(number)) >= 0;
  }
  /// Whether who has published in that round, or in none where it is 0, leaves. Once it is so it stays so: nothing is
  /// held any more.
  static bool leaves(std::uint64_t state, std::uint64_t number) noexcept {
    return (state & failed) != 0 && (number == 0 || state >> 1 != number);
  }

  /// `value` is read next: it comes to this core together with its stamp, not behind it. False where who has published
  /// in round `stays` leaves.
  bool await(board& mine, const board& its, std::uint64_t number, std::uint64_t stays,
             std::span<const std::byte> value);
  void wake(const board* but) noexcept {
    // seq_cst: between what was shown before and the looks; see awaited_round::pause().
    std::atomic_thread_fence(std::memory_order_seq_cst);
    for (board& each : boards_) {
      if (&each == but) continue;
      // relaxed: the exchange decides. acq_rel: see awaited_round::pause().
      if (each.asleep.load(std::memory_order_relaxed) == 0) [[likely]]
        continue;
      if (each.asleep.exchange(0, std::memory_order_acq_rel) == 1) each.bell.set();
    }
  }

  /// The number in the job of a rank of that worker's; -1 where that is not known.
  int name_of(const board& its) const noexcept {
    return names_.empty() ? -1 : names_[static_cast<std::size_t>(&its - boards_.data())];
  }

  progress& by_;
  std::vector<int> names_;
  std::vector<board> boards_;
  std::once_flag roomy_;
  alignas(alignment) std::atomic<std::uint64_t> state_{0};
};

/// One worker's part in one round after another.
class worker_rounds::round {
 public:
  round(worker_rounds& all, std::size_t self) : all_(all), mine_(all.boards_[self]) {}
  round(const round&) = delete;
  round& operator=(const round&) = delete;

  /// Begins one of the call of this hash: the same for all.
  void begin(std::uint32_t call) noexcept {
    number_ = ++mine_.rounds;
    stamp_ = number_ << 32 | call;
    has_published_ = false;
  }

  /// Where values of so many bytes lie in this round: this worker's, to be written before it publishes, and what others
  /// have published. Making room throws std::bad_alloc.
  std::byte* make_room(std::size_t bytes) {
    if (bytes <= line_bytes) return mine_.lines[place()].begin(bytes);
    if (mine_.slots == nullptr) mine_.slots = std::make_unique<std::array<slot, depth>>();
    return (*mine_.slots)[place()].data();
  }
  std::byte* value_of(std::size_t worker, std::size_t bytes) const noexcept {
    board& its = all_.boards_[worker];
    return bytes <= line_bytes ? its.lines[place()].begin(bytes) : (*its.slots)[place()].data();
  }

  void publish() noexcept {
    has_published_ = true;
    // release: pairs with the acquire of whoever finds this stamp: what this worker and its ranks wrote is there then.
    mine_.lines[place()].stamp.store(stamp_, std::memory_order_release);
  }

  std::uint64_t number() const noexcept { return number_; }

  /// Waits until `worker` has published. Who awaits has published, too, though it may be that nobody awaits him: stamps
  /// are compared by their distance, and one that was left behind for 2^31 rounds would be ahead. `bytes`: of its
  /// value, which is read next. `stays`: the round after which nobody leaves, once it is held; 0: none.
  found await(std::size_t worker, std::size_t bytes = 0, std::uint64_t stays = 0) {
    if (!has_published_) publish();
    board& of = all_.boards_[worker];
    line& its = of.lines[place()];
    const std::size_t in_line = bytes <= line_bytes ? bytes : 0;
    const std::span<const std::byte> value{its.begin(in_line), in_line};
    ask_for(value);
    // acquire: pairs with publish(). The same behind the wait.
    if (its.stamp.load(std::memory_order_acquire) == stamp_) return found::here;
    if (!all_.await(mine_, of, number_, stays, value)) return found::failed;
    const std::uint64_t stamp = its.stamp.load(std::memory_order_acquire);
    return stamp == stamp_ || stamp >> 32 != stamp_ >> 32 ? found::here : found::differs;
  }

  /// By one who has awaited all others here, of the same call: from now on nobody leaves. Several may. False where the
  /// communicator has failed before.
  bool hold() noexcept;

  /// Those that may sleep until this worker has published are woken: before it is long busy with something else.
  void wake() noexcept { all_.wake(&mine_); }

 private:
  std::size_t place() const noexcept { return number_ % depth; }

  worker_rounds& all_;
  board& mine_;
  std::uint64_t number_ = 0;
  std::uint64_t stamp_ = 0;
  bool has_published_ = false;
};

}  // namespace weft::detail
