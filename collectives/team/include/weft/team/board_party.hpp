// SPDX-License-Identifier: Apache-2.0
// The party that carries patterns out, in the memory that the processes of a node share.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>
#include <weft/fabric/arena.hpp>
#include <weft/fabric/arena_boards.hpp>
#include <weft/fabric/arena_rounds.hpp>
#include <weft/fabric/participant.hpp>
#include <weft/kernels/combine.hpp>
#include <weft/patterns/alltoall_with_counts.hpp>
#include <weft/request/aligned_bytes.hpp>
#include <weft/request/leader_call.hpp>
#include <weft/runtime/copy_bytes.hpp>
#include <weft/runtime/memory_budget.hpp>
#include <weft/schedules/collective.hpp>

namespace weft::detail {

class process;
using schedules::collective;

/// One process's part in the calls of a communicator whose processes share memory, each with a board of its own
/// (arena_board.hpp), and take turns by rounds (arena_rounds.hpp). It is a party (weft/patterns/party.hpp): what a
/// round shows lies in a line of the board beside the stamp where it is short, else in a slot, or where
/// `take_long_slots` was called in a longer slot in the heaps of the arena. What is told of buffers is checked before
/// it is used.
///
/// What an operator of the caller's throws its process throws once its part of the call is over. Who would have read
/// what it was to make reads an error token instead (which rank threw what), and shows that to those who depend on what
/// it makes of it. All rounds are gone through as ever, so the communicator goes on. In calls with such an operator
///
///     line:  where buffers lie, in rounds that tell | whether there is no value
///     slot:  the value, or else the token
///
/// Used by one thread or fiber at a time.
class board_party {
 public:
  using place = std::byte*;

  /// `seats` are of all processes, this one at `self`; `leaders` the first rank of each.
  board_party(process& host, std::uint64_t communicator, std::vector<fabric::arena_boards::seat> seats,
              const std::vector<int>& leaders, std::size_t self);
  board_party(const board_party&) = delete;
  board_party& operator=(const board_party&) = delete;
  /// Gives its board back.
  ~board_party();

  fabric::board_ticket board() const noexcept { return seats_[self()].ticket; }
  bool crowded() const noexcept { return crowded_; }            ///< processes of the node share CPUs
  bool reads_memory() const noexcept { return reads_memory_; }  ///< the others' by the kernel
  bool has_heap() const noexcept { return heap_ != nullptr; }

  /// Finds out the terms of a call, and where its blocks lie.
  void learn(const leader_call& call);
  /// Whether the latest call is this one.
  bool is_of(const leader_call& call) const noexcept { return call_ == &call; }

  /// Begins a call whose terms have been found. With counts it allocates nothing once `learn` has been called for it.
  void start(const leader_call& call) {
    call_ = &call;
    way_ = &call.on_node;
    place_blocks(call);
    sequence_ = call.sequence;
    in_ = const_cast<std::byte*>(call.in);
    out_ = call.out;
    slot_bytes_ = fabric::arena_slot_bytes;
    in_long_slots_ = false;
    has_told_ = false;
    if (missing_ != nullptr || call.poisoned != nullptr) [[unlikely]]
      missing_ = poisoned_ = call.poisoned;
  }
  /// Its pattern has ended well: what came of an operator that threw.
  leader_result finish() {
    if (took_memory_ || poisoned_ != nullptr) [[unlikely]]
      return finish_special();
    return {};
  }
  /// It has not since a process has left the communicator, or for another reason: in the first case that fails now.
  /// Blocks until it is known what is behind that: a loss, a failure that all are told of, or nothing, as its process
  /// says when it polls.
  void explain(fabric::participant& member);
  /// And from now on nobody uses this process's memory, once this returns. Blocks until then.
  void withdraw();

  /// The first ranks of the processes that have not come as far as this one. Any thread.
  std::vector<int> behind() const;

  /// The communicator has failed: whoever waits here is to end. Any thread.
  void fail() noexcept {
    failed_.store(true, std::memory_order_relaxed);  // relaxed: what it failed with is read under the messenger's token
  }

  void name_members(std::vector<int> ranks) { rounds_.name_members(std::move(ranks)); }
  void mark(trace::marks* to) noexcept { rounds_.mark(to); }

  /// Makes rounds show more at a time, for an input of so many bytes, where there is memory for that: `one_way` where
  /// who reads has nothing to do but to wait for who writes. The first call of all that has need of it takes a round.
  bool take_slots_for(std::size_t bytes, bool one_way) {
    return has_slots_for(bytes, one_way) || take_long_slots_for(bytes, one_way);
  }
  /// Whether they have always room for it.
  bool has_slots_for(std::size_t bytes, bool one_way) const noexcept {
    return bytes <= (one_way && crowded_ ? longest_short_one_way : fabric::arena_slot_bytes);
  }
  bool has_long_slots() const noexcept { return long_slots_ == opening::open; }
  bool refused_long_slots() const noexcept { return long_slots_ == opening::refused; }

  // As a party:

  std::size_t size() const noexcept { return rounds_.size(); }
  std::size_t self() const noexcept { return rounds_.self(); }
  std::size_t element_bytes() const noexcept { return way_->element; }
  std::size_t count() const noexcept { return way_->how.count; }  ///< of the vector
  std::size_t room() const noexcept { return slot_bytes_ / way_->element; }
  std::size_t line() const noexcept { return std::max<std::size_t>(64 / way_->element, 1); }
  std::uint32_t number() const noexcept { return rounds_.number(); }
  place input(std::size_t at) const noexcept { return in_ + at * way_->element; }
  place output(std::size_t at) const noexcept { return out_ + at * way_->element; }
  std::span<place> operands() noexcept { return operands_; }

  bool begin(std::size_t count) { return begin_bytes(bytes_in_slot(count)); }
  /// Not in long slots.
  bool try_begin(std::size_t count) {
    return rounds_.try_begin(way_->fingerprint, sequence_, ask_for(bytes_in_slot(count)));
  }
  bool end_begin() { return rounds_.end_begin(way_->fingerprint, sequence_); }
  place shown(std::size_t member, std::size_t at) const noexcept {
    return (in_line_ ? rounds_.line(member) : slot(member)) + at * way_->element;
  }
  place shown_before(std::size_t member, std::size_t at) const noexcept {
    return long_slots_of_[member] + long_slot_before_ + at * way_->element;
  }
  template <class Reads>
  void publish(patterns::shows what, Reads) {
    if (way_->custom) [[unlikely]]
      show_token(what == patterns::shows::nothing ? nullptr
                                                  : (what == patterns::shows::input ? missing_ : poisoned_).get());
    rounds_.publish();
  }
  bool await(std::size_t member) {
    const auto found = rounds_.await(member, asked_for_);
    if (found != fabric::arena_rounds::found::here) [[unlikely]]
      return end_in_vain(member, found);
    if (way_->custom) [[unlikely]]
      take_token(member);
    return true;
  }
  bool await_others() {
    for (std::size_t i = 0; i < size(); ++i)
      if (i != self() && !await(i)) return false;
    return true;
  }
  void end() noexcept { rounds_.end(); }
  void end_with_all() noexcept { rounds_.end_with_all(); }
  void end_with_all_in(std::uint32_t since) noexcept { rounds_.end_with_all_in(since); }

  void copy(place from, place to, std::size_t count) noexcept {
    if (from == to || count == 0) return;
    const trace::part recorded(trace::kind::step, "copy", count * way_->element);
    copy_bytes(to, from, count * way_->element);
  }
  void copy_within(place from, place to, std::size_t count) noexcept {
    if (from != to && count != 0) std::memmove(to, from, count * way_->element);
  }
  /// Nothing where an operator has thrown that it depends on.
  void combine(std::span<const place> from, place to, std::size_t count) {
    if (count == 0) return;
    const trace::kernel_part recorded(way_->kernel, count * way_->element);
    if (!way_->custom && from.size() <= most_sources) [[likely]]
      return way_->kernel(reinterpret_cast<const void* const*>(from.data()), from.size(), to, count);
    combine_many(from, to, count);
  }
  void combine_two(place first, place second, place to, std::size_t count) {
    combine(std::array{first, second}, to, count);
  }

  bool begin_telling(std::size_t count) {
    in_line_ = false;
    const bool begun = begin_bytes(count * way_->element);
    telling_ = rounds_.number();
    return begun;
  }
  void tell(patterns::offers what) noexcept;
  void hear(std::size_t member, patterns::offers) noexcept;
  bool is_mapped(std::size_t member) const noexcept { return told_[member].mapped(); }
  bool shares_slots() const noexcept { return long_slots_ == opening::open && in_long_slots_ && !way_->custom; }
  bool take(std::size_t member, std::size_t at, place to, std::size_t count);
  bool give(std::size_t member, std::size_t at, place from, std::size_t count);
  bool combine_told(patterns::range of, place to);
  template <class Takes>
  bool combine_in_place(patterns::range of, Takes takes) {
    outputs_.assign(size(), nullptr);
    for (std::size_t i = 0; i < size(); ++i) {
      operands_[i] = find(i, told_[i].in, way_->how.count * way_->element);
      if (takes(i)) outputs_[i] = find(i, told_[i].out, way_->how.count * way_->element);
      if (operands_[i] == nullptr || (takes(i) && outputs_[i] == nullptr)) return false;
    }
    combine_into_outputs(of);
    return true;
  }
  place kept(patterns::range of);

  patterns::range block(std::size_t member) const noexcept {
    if (begins_.empty()) return {member * way_->block, way_->block};
    return {begins_[member], begins_[member + 1] - begins_[member]};
  }
  void apart(std::size_t count);

  patterns::range sent(std::size_t member) const noexcept { return block(member); }
  patterns::range received(std::size_t member) const noexcept {
    const std::size_t row = size() + 1 + member;
    return {begins_[row], begins_[row + 1] - begins_[row]};
  }
  std::size_t room_behind_counts() const noexcept {
    return (fabric::arena_slot_bytes - counts_bytes()) / way_->element;
  }
  bool begin_counting() {
    in_line_ = false;
    telling_ = rounds_.number() + 1;
    return rounds_.begin(way_->fingerprint, sequence_, fabric::arena_slot_bytes);
  }
  void show_counts() noexcept;
  bool hear_counts(std::size_t member, patterns::range& its, std::size_t& all);
  place behind_counts(std::size_t member, std::size_t at) const noexcept {
    return rounds_.slot(member) + counts_bytes() + at * way_->element;
  }
  /// Whether counts have room in a slot at all.
  bool has_room_for_counts() const noexcept { return counts_bytes() <= fabric::arena_slot_bytes; }

  /// Vectors that one pass of a kernel combines.
  static constexpr std::size_t most_sources = 16;

 private:
  friend class line_party;

  leader_result finish_special();

  /// What a process tells: offsets in its region of the heaps, `elsewhere`, or `none`, and the address of its input.
  struct told_buffers {
    static constexpr std::uint64_t elsewhere = ~std::uint64_t{0};  ///< in memory of its own
    static constexpr std::uint64_t none = elsewhere - 1;           ///< others do not use any such buffer in the call
    std::uint64_t address = 0;
    std::uint64_t token = 0;  ///< place of the mark that there is no value
    std::uint64_t in = elsewhere;
    std::uint64_t out = elsewhere;
    bool mapped() const noexcept { return in != elsewhere && out != elsewhere; }
    /// Whether others may use any of them in place.
    bool shared() const noexcept { return in < none || out < none; }
  };
  static_assert(sizeof(told_buffers) <= fabric::arena_line_bytes);

  /// Of a slot, which may hold an error token.
  static constexpr std::size_t token_bytes = 256;
  static constexpr std::size_t long_slots_in_ring = 4;
  /// Where processes share CPUs who writes goes on while the others wait for theirs, and of long slots there are more.
  static constexpr std::size_t longest_short_one_way = 2 << 10;

  /// Of a round that shows so many elements: 0 where they lie in a line.
  std::size_t bytes_in_slot(std::size_t count) noexcept {
    const std::size_t bytes = count * way_->element;
    in_line_ = bytes <= fabric::arena_line_bytes && !way_->custom;
    return in_line_ ? 0 : bytes;
  }
  std::size_t ask_for(std::size_t in_slot) noexcept {
    if (way_->custom) [[unlikely]]
      in_slot = std::max(in_slot, token_bytes);
    return asked_for_ = in_slot;
  }
  bool begin_bytes(std::size_t in_slot) {
    in_slot = ask_for(in_slot);
    return in_long_slots_ && in_slot != 0 ? begin_with_long_slot(in_slot)
                                          : rounds_.begin(way_->fingerprint, sequence_, in_slot);
  }
  bool begin_with_long_slot(std::size_t bytes);
  void place_blocks(const leader_call& call) {
    begins_.clear();
    if (!call.counts.empty()) [[unlikely]]
      place_uneven_blocks(call);
  }
  void place_uneven_blocks(const leader_call& call);
  place slot(std::size_t member) const noexcept {
    return in_long_slots_ ? long_slots_of_[member] + long_slot_ : rounds_.slot(member);
  }
  /// Says where that is why a wait for `member` was in vain that the calls differ. False.
  bool end_in_vain(std::size_t member, fabric::arena_rounds::found found);

  static std::span<const std::byte* const> as_inputs(std::span<const place> all) noexcept {
    return {all.data(), all.size()};
  }

  // error_tokens.cpp
  void show_token(const fabric::poison* missing) noexcept;
  void take_token(std::size_t member);
  void combine_many(std::span<const place> from, place to, std::size_t count);
  void combine_by_caller(std::span<const place> from, place to, std::size_t count);

  // told_memory.cpp
  std::uint64_t offset_of(const void* buffer, std::size_t bytes) const noexcept;
  /// What another process told of; null: that cannot be, and the communicator has failed.
  place find(std::size_t member, std::uint64_t offset, std::size_t bytes);
  bool read(std::size_t member, std::size_t offset, place to, std::size_t bytes);
  /// That was in vain: blocks until it is known why, and returns false.
  bool end_unread(std::size_t member, const std::string& why);
  void combine_into_outputs(patterns::range of);
  /// Bytes of each other process's memory that are read at a time.
  std::size_t bytes_of_piece() const noexcept;
  std::size_t counts_bytes() const noexcept { return (size() + 1) * sizeof(std::uint64_t); }

  bool take_long_slots_for(std::size_t bytes, bool one_way);
  bool open_long_slots();

  /// Memory that is kept from call to call, unless it was much.
  class scratch {
   public:
    explicit scratch(std::shared_ptr<memory_budget> budget) noexcept : budget_(std::move(budget)) {}
    /// Aligned to 64 bytes, until the next call of this. Throws std::bad_alloc, errc::out_of_memory.
    place room_for(std::size_t bytes);
    /// Frees it where it is much, or memory is scarce.
    void free_large() noexcept {
      if (bytes_ > most_kept || budget_->is_scarce()) [[unlikely]]
        free();
    }

   private:
    void free() noexcept;

    static constexpr std::size_t most_kept = 4 << 20;
    const std::shared_ptr<memory_budget> budget_;
    aligned_bytes memory_;
    std::size_t bytes_ = 0;
    memory_charge charge_;
  };

  place memory_in(scratch& which, std::size_t bytes) {
    took_memory_ = true;
    return which.room_for(bytes);
  }

  process& host_;
  const std::uint64_t communicator_;
  const std::vector<int>& leaders_;
  std::vector<fabric::arena_boards::seat> seats_;
  std::atomic<bool> failed_{false};
  fabric::arena_rounds rounds_;
  const bool reads_memory_;
  const bool crowded_;
  std::vector<std::int64_t> pids_;                  // of the processes, in this PID namespace
  const std::shared_ptr<fabric::arena_heap> heap_;  // null: there are none
  std::vector<std::size_t> regions_;                // of the processes in it
  std::vector<place> operands_, outputs_;
  std::vector<const std::byte*> mapped_;  // inputs that are combined where they lie; null: read first
  std::vector<told_buffers> told_;        // by each process, in the round `telling_`
  std::uint32_t telling_ = 0;
  scratch pieces_, kept_, apart_;
  bool took_memory_ = false;  // of one of them, in this call

  enum class opening : unsigned char { not_tried, open, refused };
  opening long_slots_ = opening::not_tried;
  std::vector<place> long_slots_of_;  // of each process
  const std::size_t long_slot_bytes_;
  fabric::slot_ring ring_of_long_slots_;
  std::size_t long_slot_ = 0, long_slot_before_ = 0;  // where this round's lies, and that of the latest with one before

  // Of the latest call:
  const leader_call* call_ = nullptr;
  place in_ = nullptr, out_ = nullptr, kept_at_ = nullptr;
  const node_way* way_ = nullptr;
  std::vector<std::size_t> begins_;  // of blocks with counts, and their end; of an all-to-all: sent, then received
  std::size_t slot_bytes_ = fabric::arena_slot_bytes;  // of which a piece is no longer
  std::size_t asked_for_ = 0;                          // of the slots of this round
  bool in_long_slots_ = false, in_line_ = false;
  bool has_told_ = false;                           // where its buffers lie
  std::exception_ptr thrown_;                       // by it, here
  std::shared_ptr<const fabric::poison> missing_;   // why there is no input
  std::shared_ptr<const fabric::poison> poisoned_;  // why there is no result
  std::uint32_t sequence_ = 0;
};

}  // namespace weft::detail
