// SPDX-License-Identifier: Apache-2.0
// How the processes of a communicator take turns with their boards.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>
#include <weft/fabric/arena_board.hpp>
#include <weft/fabric/round_order.hpp>
#include <weft/fabric/slot_ring.hpp>
#include <weft/runtime/backoff.hpp>
#include <weft/runtime/progress.hpp>
#include <weft/runtime/trace.hpp>

namespace weft::fabric {

/// One process's part in a communicator's collectives through the arena, of which each is a round:
///
///     begin -> write the line or the slot -> publish -> await some or all of the others, read theirs -> end
///
/// Every process publishes in every round, whether or not it has anything to say. `begin` waits until nobody reads any
/// more what is written now (round_order.hpp).
///
/// For one thread at a time. What blocks spins, yields, and sleeps, polls meanwhile, and ends where `failed` is set, or
/// where who is awaited has left; a coroutine is left (weft/runtime/coroutine.hpp).
class arena_rounds {
 public:
  enum class found {
    here,     ///< it has published, and all its calls were the same
    differs,  ///< not all were: see `difference_to`
    failed,   ///< the communicator has, or the process has left it: see `missed`
  };

  /// `boards` are of the communicator's processes, in its order, all of them made; that of this one is at `self`. They
  /// and `failed` outlive this.
  arena_rounds(std::vector<arena_board*> boards, std::size_t self, progress& by, const std::atomic<bool>& failed);

  std::size_t size() const noexcept { return size_; }
  std::size_t self() const noexcept { return self_; }

  /// Begins a round of this call, of which all processes must have the same two numbers. `in_slot`: bytes of the slot
  /// that some may write, the same for all, at most `arena_slot_bytes`. Blocks where this process is far ahead. False
  /// where the communicator has failed.
  bool begin(std::uint64_t fingerprint, std::uint32_t sequence, std::size_t in_slot = 0) {
    return begin_in(take_slot(in_slot), fingerprint, sequence);
  }

  /// The same for who writes memory of his own that may be written once all others are in the round `needed`.
  bool begin_in(std::uint32_t needed, std::uint64_t fingerprint, std::uint32_t sequence) {
    // relaxed: what it failed with is read under the messenger's token.
    if (failed_.load(std::memory_order_relaxed)) [[unlikely]]
      return false;
    if (!count_round(needed, fingerprint, sequence) && !settle()) [[unlikely]]
      return false;
    note_call(fingerprint, sequence);
    return true;
  }

  /// As `begin`, but does not block: false where that would, or the communicator has failed. Then `end_begin` follows,
  /// of the same call, which blocks.
  bool try_begin(std::uint64_t fingerprint, std::uint32_t sequence, std::size_t in_slot = 0) {
    if (!count_round(take_slot(in_slot), fingerprint, sequence) && !settle_at_once()) [[unlikely]]
      return false;
    note_call(fingerprint, sequence);
    return !failed_.load(std::memory_order_relaxed);  // relaxed: as in begin_in()
  }
  bool end_begin(std::uint64_t fingerprint, std::uint32_t sequence) {
    if (failed_.load(std::memory_order_relaxed) || !settle()) return false;  // relaxed: as in begin_in()
    note_call(fingerprint, sequence);
    return true;
  }

  /// Where `begin` has made room for this process's value, and what others published there.
  std::byte* line(std::size_t member) const noexcept { return boards_[member]->lines[place_].value.data(); }
  std::byte* slot(std::size_t member) const noexcept { return boards_[member]->slots.data() + slot_; }

  /// What was written is for the others to read now.
  void publish() noexcept {
    // release: pairs with the acquire of whoever finds this stamp: value, slot and call are there then.
    mine_.lines[place_].stamp.store(stamp_, std::memory_order_release);
    woken_ = false;
    if (marks_ != nullptr) [[unlikely]]
      marks_->begin();
  }

  /// Waits until `member` has published in this round. `in_slot`: bytes of its slot that are read next. A few come to
  /// this core together with the stamp, not behind it.
  found await(std::size_t member, std::size_t in_slot = 0) {
    const std::atomic<std::uint64_t>& its = boards_[member]->lines[place_].stamp;
    const std::span<const std::byte> value{slot(member), in_slot <= most_asked_for ? in_slot : 0};
    ask_for(value);
    // acquire: pairs with publish().
    if (its.load(std::memory_order_acquire) == stamp_) return found::here;
    return wait_for_stamp(member, value);
  }

  /// Ends a round in which all others were awaited, and one in which not all were.
  void end_with_all() noexcept {
    order_.settle(order_.number());
    wake_sleepers();
  }
  void end() noexcept { wake_sleepers(); }
  /// Ends one by which it is known that all others have been in the round `since`: some were awaited who had awaited
  /// the rest in that.
  void end_with_all_in(std::uint32_t since) noexcept {
    order_.settle(since);
    wake_sleepers();
  }

  // Where the processes have told in a round where memory of theirs lies, the others use it until they publish in the
  // next one:
  //
  //     round of telling: ... await all, end_with_all -> all_stay? -> use -> next round: publish, await all
  //
  // Who fails on the way withdraws, and waits until nobody is_using() its memory.

  /// This round.
  std::uint32_t number() const noexcept { return order_.number(); }
  /// Whether no process has withdrawn, so that the memory of all may be used. Between end_with_all() and the next
  /// round.
  bool all_stay() const noexcept;
  /// This process's call has failed: from now on nobody begins to use its memory.
  void withdraw() noexcept;
  /// Whether `member` has not withdrawn: then what was read of its memory before is what it told of.
  bool stays(std::size_t member) const noexcept;
  /// Whether `member` may be using memory that it was told of in the round of `telling`. Once withdrawn.
  bool is_using(std::size_t member, std::uint32_t telling) const noexcept;

  /// The processes are ranks of these numbers where waits for them are recorded.
  void name_members(std::vector<int> ranks) { names_ = std::move(ranks); }
  /// The next calls leave their times there; null: nowhere.
  void mark(trace::marks* to) noexcept { marks_ = to; }

  /// Who was awaited, and has left the communicator without publishing.
  std::optional<std::size_t> missed() const noexcept { return missed_; }

  /// Those that have not published in as late a round as this process. Any thread.
  std::vector<std::size_t> behind() const;

  /// The first calls known in which `member` differs, and this process's instead. Once it has been found to differ.
  struct difference {
    std::uint64_t mine = 0, theirs = 0;  ///< fingerprints
  };
  difference difference_to(std::size_t member) const noexcept;

 private:
  class awaited_round;

  /// What of a slot is asked for before it is known to be there. What comes too early comes twice: measured on an EPYC,
  /// an all-reduce of 2 processes takes 0.48 us for 128 B and 0.50 for 512 B, without that 0.50 and 0.54, but 1.20 and
  /// without 0.88 for 2 KiB.
  static constexpr std::size_t most_asked_for = 512;

  static std::uint32_t round_of(std::uint64_t stamp) noexcept { return static_cast<std::uint32_t>(stamp >> 32); }
  int name_of(std::size_t member) const noexcept { return names_.empty() ? -1 : names_[member]; }
  found wait_for_stamp(std::size_t member, std::span<const std::byte> value);
  /// Where this round's slots lie, and the round that all others must be in before they are written.
  std::uint32_t take_slot(std::size_t bytes) noexcept {
    if (bytes == 0) return order_.settled();
    const slot_ring::place slot = slots_.take(bytes, order_.number() + 1);
    slot_ = slot.offset;
    return slot.needed;
  }
  /// Whether it is known that they are.
  bool count_round(std::uint32_t needed, std::uint64_t fingerprint, std::uint32_t sequence) noexcept {
    const bool settled = order_.begin(needed);
    // Fibonacci hashing (Knuth, volume 3, 6.4): the upper half of the product depends on every bit. Of all calls: two
    // of which each believes to be the root do not look at each other in that round.
    calls_ = (calls_ ^ fingerprint ^ std::uint64_t{sequence} << 32) * 0x9e3779b97f4a7c15u;
    calls_ ^= calls_ >> 32;
    place_ = order_.number() % arena_depth;
    stamp_ = std::uint64_t{order_.number()} << 32 | (calls_ & 0xffff'ffffu);
    return settled;
  }
  /// What this process calls in this round, for those that call something else.
  void note_call(std::uint64_t fingerprint, std::uint32_t sequence) noexcept {
    // relaxed, all: publish() orders them for who comes in time; who does not sees another round, or has a wrong text.
    arena_call& mine = mine_.calls[place_];
    mine.fingerprint.store(fingerprint, std::memory_order_relaxed);
    mine.sequence.store(sequence, std::memory_order_relaxed);
    mine.round.store(order_.number(), std::memory_order_relaxed);
  }
  /// Blocks until they are. False where the communicator has failed.
  bool settle();
  /// Whether they are now.
  bool settle_at_once() noexcept;
  bool all_are_in(std::uint32_t round) const noexcept;
  void wake_sleepers() noexcept {
    if (std::exchange(woken_, true)) return;
    // seq_cst: between the stamp and the looks; see awaited_round::sleep().
    std::atomic_thread_fence(std::memory_order_seq_cst);
    for (const arena_board* each : boards_)
      if (each->asleep.load(std::memory_order_relaxed) != 0 && each != &mine_) [[unlikely]]
        return wake_all();
  }
  void wake_all() noexcept;

  const std::vector<arena_board*> boards_;
  const std::size_t size_, self_;
  arena_board& mine_;
  progress& by_;
  const std::atomic<bool>& failed_;
  round_order order_{arena_depth};
  slot_ring slots_{arena_slots_bytes};
  std::size_t place_ = 0;    // of this round's lines
  std::size_t slot_ = 0;     // where its slots lie
  std::uint64_t calls_ = 0;  // a hash of all so far
  std::uint64_t stamp_ = 0;
  int spins_;
  unsigned vain_waits_ = 0;  // with the fewest spins
  std::optional<std::size_t> missed_;
  bool woken_ = false;  // whoever slept until the latest round was published
  trace::marks* marks_ = nullptr;
  std::vector<int> names_;  // empty: nothing is recorded
};

}  // namespace weft::fabric
