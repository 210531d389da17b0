// How the workers of a process wait for each other where ranks of theirs meet.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>
#include <weft/runtime/event.hpp>
#include <weft/runtime/progress.hpp>

namespace weft::detail {

/// What each worker shows the others of a communicator's calls. A call is a round of all of them:
///
///     begin -> write the value -> publish -> await the others, read their values -> end
///
/// and where they work in each other's memory, one of them, who then says what all do, is awaited in steps:
///
///     the one:     await all -> hold -> say -> its own part -> await all done -> say ... -> let go, say the last
///     the others:  await what is said -> do it -> done -> await ...
///
/// A value is written again two rounds later: who begins a round has seen all others in the one before, so they have
/// read what was published before that.
///
/// For one thread at a time of each worker. What blocks spins, lets the worker's other fibers run, and sleeps.
class worker_rounds {
 public:
  /// The longest value that travels with its stamp, and the longest.
  static constexpr std::size_t line_bytes = 504;
  static constexpr std::size_t slot_bytes = 16 << 10;

  enum class found {
    here,     ///< it has published in this round, of the same call
    differs,  ///< of another call
    failed,   ///< the communicator has failed
  };

  worker_rounds(std::size_t workers, progress& by) : by_(by), boards_(workers) {}

  std::size_t size() const noexcept { return boards_.size(); }

  class round;

  /// The communicator has failed: who waits is told, unless he must not leave. Any thread; perhaps several times.
  void fail() noexcept;
  /// relaxed: it stays so, and what it failed with is read under the messenger's token.
  bool has_failed() const noexcept { return (state_.load(std::memory_order_relaxed) & failed) != 0; }

 private:
  static constexpr std::uint32_t held = 1;       ///< whoever has published stays until it is over
  static constexpr std::uint32_t failed = 2;     ///< the communicator has
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
    alignas(alignment) std::atomic<std::uint64_t> step{0};  ///< its number << 32 | what is said, or nothing: it is done
    alignas(alignment) std::atomic<std::uint32_t> asleep{0};  ///< 1: `bell` is to be set by who makes it 0
    event bell;
    std::unique_ptr<std::array<slot, depth>> slots;  ///< once it has had a value that needs one
    alignas(alignment) std::uint32_t rounds = 0;     // from here on the worker's alone
    std::uint32_t steps = 0;
    int spins = most_spins;
  };

  /// Looks at a word before this thread's core is given to others: some 20 us at most, which is what that takes.
  static constexpr int most_spins = 1024;
  static constexpr int least_spins = 8;
  /// Of these, between two turns of the other fibers of this worker.
  static constexpr int spins_between_turns = 32;

  static std::uint32_t number_of(std::uint64_t word) noexcept { return static_cast<std::uint32_t>(word >> 32); }

  /// `value` is read next: it comes to this core together with the word, not behind it.
  bool await(board& mine, const std::atomic<std::uint64_t>& word, std::uint32_t number, bool may_leave,
             std::span<const std::byte> value = {});
  bool sleep(board& mine, const std::atomic<std::uint64_t>& word, std::uint32_t number, bool may_leave);
  void wake(const board* but) noexcept;

  progress& by_;
  std::vector<board> boards_;
  alignas(alignment) std::atomic<std::uint32_t> state_{0};
};

/// One worker's part in one round.
class worker_rounds::round {
 public:
  /// Begins one of the call of this hash: the same for all.
  round(worker_rounds& all, std::size_t self, std::uint32_t call)
      : all_(all), mine_(all.boards_[self]), number_(++mine_.rounds), stamp_(std::uint64_t{number_} << 32 | call) {}
  round(const round&) = delete;
  round& operator=(const round&) = delete;

  /// Where values of so many bytes lie in this round: this worker's, to be written before it publishes, and what others
  /// have published. Making room throws std::bad_alloc.
  std::byte* make_room(std::size_t bytes) {
    if (bytes <= line_bytes) return mine_.lines[place()].begin(bytes);
    if (mine_.slots == nullptr) mine_.slots = std::make_unique<std::array<slot, depth>>();
    return (*mine_.slots)[place()].data();
  }
  const std::byte* value_of(std::size_t worker, std::size_t bytes) const noexcept {
    board& its = all_.boards_[worker];
    return bytes <= line_bytes ? its.lines[place()].begin(bytes) : (*its.slots)[place()].data();
  }

  void publish() noexcept {
    // release: pairs with the acquire of whoever finds this stamp: what this worker and its ranks wrote is there then.
    mine_.lines[place()].stamp.store(stamp_, std::memory_order_release);
  }

  /// Waits until `worker` has published. `bytes`: of its value, which is read next.
  found await(std::size_t worker, std::size_t bytes = 0) {
    line& its = all_.boards_[worker].lines[place()];
    const std::size_t in_line = bytes <= line_bytes ? bytes : 0;
    if (!all_.await(mine_, its.stamp, number_, true, {its.begin(in_line), in_line})) return found::failed;
    // acquire: pairs with publish().
    return its.stamp.load(std::memory_order_acquire) == stamp_ ? found::here : found::differs;
  }

  /// All others have been awaited and their values read.
  void end() noexcept { all_.wake(&mine_); }

  /// By the one, who has awaited all others: from here on nobody leaves, whatever fails. False where the communicator
  /// has failed before.
  bool hold() noexcept;
  void let_go() noexcept;
  /// What all others do next.
  void say(std::uint32_t what) noexcept;
  void await_all_done();

  /// By the others: what `conductor` says; nothing but `failed` where the communicator has failed before he held all.
  struct word {
    found how = found::here;
    std::uint32_t what = 0;
  };
  word await_word(std::size_t conductor);
  void done() noexcept;

 private:
  std::size_t place() const noexcept { return number_ % depth; }
  void show_step(std::uint32_t what) noexcept;

  worker_rounds& all_;
  board& mine_;
  const std::uint32_t number_;
  const std::uint64_t stamp_;
};

}  // namespace weft::detail
