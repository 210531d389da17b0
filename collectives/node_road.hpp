// Collectives among processes of one node, in the memory that they share.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>
#include <weft/fabric/arena.hpp>
#include <weft/fabric/arena_boards.hpp>
#include <weft/fabric/arena_rounds.hpp>
#include <weft/fabric/participant.hpp>
#include <weft/kernels/combine.hpp>
#include <weft/schedules/collective.hpp>

#include "aligned_bytes.hpp"
#include "leader_call.hpp"
#include "node_groups.hpp"
#include "node_limits.hpp"

namespace weft::detail {

class block_places;
class process;
using schedules::collective;

/// The processes of a communicator that lies on one node. A short call is one round of its boards (arena_rounds.hpp):
/// every process writes its vector beside a stamp, and whoever needs the result combines all of them in the order of
/// the processes, so that all get the same bits. A long one goes piece by piece through long slots, of which each
/// process combines a share, or by reading the others' memory, whichever is the faster here (node_limits.hpp); where
/// there is memory for neither, by short ones. Blocks that are only moved go the same ways. Where all of a vector's
/// buffers lie in the heaps of the arena each process combines a share straight from all inputs into all outputs. Used
/// by one rank of this process at a time.
class node_road {
 public:
  /// The road of the communicator whose processes sit on these boards, in their order, this one at `self`, where all of
  /// them share memory and have one; else null. `leaders`: the first rank of each.
  static std::unique_ptr<node_road> of(process& host, std::uint64_t communicator,
                                       const std::vector<fabric::arena_boards::seat>& seats,
                                       const std::vector<int>& leaders, std::size_t self);

  /// Whether a process that told this has one.
  static bool is_board(fabric::board_ticket ticket) noexcept { return ticket && ticket.board < fabric::arena::boards; }

  node_road(process& host, std::uint64_t communicator, const std::vector<fabric::arena_boards::seat>& seats,
            const std::vector<int>& leaders, std::size_t self);
  node_road(const node_road&) = delete;
  node_road& operator=(const node_road&) = delete;
  /// Gives its board back.
  ~node_road();

  /// This process's.
  fabric::board_ticket board() const noexcept { return seats_[rounds_.self()].ticket; }

  /// Whether a `what` with the operator and type of `call` goes this way: the same in every process.
  bool takes(collective what, const request& call) const noexcept;

  /// Runs one that does, as `member`, the first rank of this process. Blocks.
  leader_result run(const leader_call& call, fabric::participant& member);

  std::size_t size() const noexcept { return rounds_.size(); }
  /// From now on: the same in every process.
  void take(const node_limits& limits) noexcept { limits_ = limits; }
  /// Finds those by measuring where the job measures at all and every process of the node has a CPU, for all roads of
  /// as many processes that are made from then on, too. By all processes, before any call. Blocks.
  void measure_limits(fabric::participant& member);

  /// Whether a `what` is read whose vector, of all blocks where there are some, has so many bytes.
  bool reads(collective what, std::size_t bytes) const noexcept;

  /// The communicator has failed: whoever waits here is to end. Any thread.
  void fail() noexcept {
    failed_.store(true, std::memory_order_relaxed);  // relaxed: what it failed with is read under the messenger's token
  }

 private:
  /// Elements of a vector.
  struct range {
    std::size_t first = 0;
    std::size_t count = 0;
  };

  /// A part of another's input that this process takes: bytes, where they begin there and in the output here.
  struct move {
    std::size_t from = 0;
    std::size_t bytes = 0;
    std::size_t to = 0;
  };

  // node_road.cpp; false: the communicator has failed
  bool go(const leader_call& call);
  bool go_vector(const leader_call& call);
  bool go_short(const leader_call& call);
  bool go_in_pieces(const leader_call& call, std::size_t done = 0);
  /// A short all-reduce or barrier in two rounds: see node_groups.hpp.
  bool go_in_groups(const leader_call& call);
  /// A barrier where processes share CPUs: the first awaits all, and all others it. So it is ahead of them, most often
  /// as the root of what comes next. Where instead the last to enter left first and then waited for the root, that
  /// would take two changes of threads more. A first that calls something else in which it waits for nobody is found
  /// out in its next call.
  bool barrier_of_first();
  /// One of them, of those of `members` that are this process and others; what they have combined is in call.out.
  bool combine_among(std::span<const std::size_t> members, const leader_call& call, const std::byte* in);
  /// Begins a round in which some may write so many bytes of their slots, the same for all processes.
  bool begin(std::size_t in_slot = 0) {
    if (custom_) in_slot = std::max(in_slot, poison_bytes);
    return in_long_slots_ && in_slot != 0 ? begin_with_long_slot(in_slot)
                                          : rounds_.begin(fingerprint_, sequence_, in_slot);
  }
  bool begin_with_long_slot(std::size_t bytes);
  bool await(std::size_t member, std::size_t in_slot = 0) {
    const auto found = rounds_.await(member, in_slot);
    if (found == fabric::arena_rounds::found::differs) [[unlikely]]
      report_difference(member);
    return found == fabric::arena_rounds::found::here;
  }
  bool await_all();
  /// Where a process's vector lies in this round.
  std::byte* place(std::size_t member, bool in_line) const noexcept {
    return in_line ? rounds_.line(member) : slot(member);
  }
  std::byte* slot(std::size_t member) const noexcept {
    return in_long_slots_ ? long_slots_of_[member] + long_slot_ : rounds_.slot(member);
  }
  void report_difference(std::size_t member);
  /// Whether a vector is read from the other processes' memory, where that is permitted, and not written into slots.
  bool is_long(collective what, std::size_t bytes) const noexcept {
    // By slots each process calls the caller's operator for all of a vector.
    return reads_ && bytes >= (custom_ ? limits_without_long_slots() : limits_).of(what, rounds_.size());
  }
  node_limits limits_without_long_slots() const noexcept {
    return node_limits::assumed(rounds_.size(), crowded_, false);
  }

  // node_operators.cpp
  /// The first `count` elements of each of those inputs, into target, which may be one of them; nothing where an
  /// operator has thrown that they depend on.
  void combine(const leader_call& call, std::span<const std::byte* const> inputs, std::size_t count, std::byte* target);
  void combine_by_caller(const leader_call& call, std::span<const std::byte* const> inputs, std::size_t count,
                         std::byte* target);
  /// Of a slot, in which a process may say why its operand is missing.
  static constexpr std::size_t poison_bytes = 256;
  /// Publishes an operand of this process, or why it is missing.
  void publish(const std::shared_ptr<const fabric::poison>& missing) {
    if (custom_) tell(missing.get());
    rounds_.publish();
  }
  void tell(const fabric::poison* missing);
  /// Waits for an operand; `poisoned_` says why it is missing.
  bool await_operand(std::size_t member, std::size_t in_slot = 0) {
    if (!await(member, in_slot)) return false;
    if (custom_) take_poison(member);
    return true;
  }
  bool await_operands(std::size_t in_slot = 0) {
    for (std::size_t i = 0; i < rounds_.size(); ++i)
      if (i != rounds_.self() && !await_operand(i, in_slot)) return false;
    return true;
  }
  void take_poison(std::size_t member);
  leader_result poisoned_outcome();

  // node_reduce_scatter.cpp; the same
  bool reduce_scatter(const leader_call& call);
  bool reduce_scatter_in_pieces(const leader_call& call, range mine);
  bool reduce_scatter_in_parts(const leader_call& call, const block_places& places);
  bool reduce_scatter_by_reading(const leader_call& call, range mine);

  // node_scan.cpp; the same
  bool scan(const leader_call& call);
  bool scan_at_once(const leader_call& call);
  bool scan_in_pieces(const leader_call& call);

  // node_blocks.cpp: calls that move blocks; the same
  /// Of inputs: bytes.
  struct lengths {
    std::size_t own = 0;
    std::size_t longest = 0;  ///< of all processes
  };
  static block_places places_of(const leader_call& call);
  static bool takes_from(const leader_call& call, std::size_t taker, std::size_t giver) noexcept;
  bool move_blocks(const leader_call& call);
  bool move_all_blocks(const leader_call& call);
  lengths plan_moves(const leader_call& call);
  /// The input, or a copy where others are to read it after this process has begun to write the output.
  const std::byte* apart(const leader_call& call, std::size_t bytes);
  bool move_in_pieces(const leader_call& call, const std::byte* in, lengths input);
  /// An all-to-all of equal blocks.
  bool move_all_at_once(const leader_call& call);
  /// Elements of each of the others' blocks that a slot has room for; 0: it has none for one of each.
  std::size_t part_of_block(std::size_t element) const noexcept;
  /// Which of the processes other than `but` one is.
  static std::size_t among_others(std::size_t process, std::size_t but) noexcept { return process - (process > but); }
  bool move_by_reading(const leader_call& call, const std::byte* in);
  bool read_moves(const leader_call& call);
  /// Waits for those that take something from this process.
  bool let_go(const leader_call& call);
  /// Calls `take` with each that this process takes something from, until it returns false.
  template <class Take>
  bool from_each(const leader_call& call, Take&& take) {
    const std::size_t self = rounds_.self(), all = rounds_.size();
    for (std::size_t next = 1; next < all; ++next) {  // each process begins with another
      const std::size_t giver = (self + next) % all;
      if (takes_from(call, self, giver) && !take(giver)) return false;
    }
    return true;
  }
  /// Ends a round in which those were awaited.
  void end_taking(const leader_call& call) noexcept;

  // node_alltoall.cpp; the same
  bool has_room_for_counts() const noexcept;
  bool alltoall_with_counts(const leader_call& call);
  void tell_blocks(const std::byte* in, const block_places& sent) noexcept;
  /// Takes what `giver` sends, if it is here, or finds where it lies; `longest` grows to the bytes of its input.
  bool take_block(const leader_call& call, std::size_t giver, const block_places& received, std::size_t& longest);
  bool refuse_counts(std::size_t giver, std::uint64_t sent, std::size_t expected);

  // node_reading.cpp: long calls; the same
  bool reduce_by_reading(const leader_call& call);
  /// The same once it has been told where the inputs lie.
  bool reduce_in_shares(const leader_call& call);
  /// Tells all others the address of an operand that they may read, or why it is missing; in `told_` what they tell.
  bool exchange(const void* address, const std::shared_ptr<const fabric::poison>& missing);
  void tell_address(const void* address) noexcept;
  void hear_address(std::size_t member) noexcept;
  bool meet();
  range share_of(const leader_call& call, std::size_t member) const noexcept;
  /// `pieces`: memory for `piece` bytes of each other process.
  bool combine_share(const leader_call& call, range share, std::byte* target, std::byte* pieces, std::size_t piece);
  bool take_shares(const leader_call& call);
  /// Copies what lies at an address in the memory that `member` has told of.
  bool read(std::size_t member, std::uint64_t address, std::byte* into, std::size_t bytes);
  /// That was in vain: blocks until it is known why, and returns false.
  bool end_unread(std::size_t member, const std::string& why);
  bool find_shares(range share, std::size_t element);
  /// Bytes of each other process's memory that are read at a time.
  std::size_t bytes_of_piece() const noexcept;
  /// Aligned to 64 bytes, until the next call of this.
  std::byte* scratch(std::size_t bytes);
  void free_large_scratch() noexcept;

  // node_in_place.cpp: calls in which every process tells where its buffers lie; the same
  /// Vectors of at least so many bytes: a second round costs less than to copy one into a slot. Measured on an EPYC, an
  /// all-reduce of 2 processes on 2 cores: 2 KiB 0.36 us in place and 0.32 by slots, 4 KiB 0.38 and 0.59.
  static constexpr std::size_t least_told = 3 << 10;
  /// Whether one of so many bytes is worth it.
  bool tells(collective what, std::size_t bytes) const noexcept;
  /// What a process tells: offsets in its region of the heaps, `elsewhere`, or `none`, and the address of its input.
  struct buffer_places {
    static constexpr std::uint64_t elsewhere = ~std::uint64_t{0};  ///< in memory of its own
    static constexpr std::uint64_t none = elsewhere - 1;           ///< it has no such buffer in the call
    std::uint64_t in = elsewhere;
    std::uint64_t out = elsewhere;
    std::uint64_t address = 0;
    bool ready() const noexcept { return in != elsewhere && out != elsewhere; }
    /// Whether others may use any of them.
    bool shared() const noexcept { return in < none || out < none; }
  };
  static_assert(sizeof(buffer_places) <= fabric::arena_line_bytes);
  bool broadcast_telling(const leader_call& call);
  bool reduce_telling(const leader_call& call);
  bool reduce_in_place(const leader_call& call);
  bool give_shares(const leader_call& call);
  bool copy_from_root(const leader_call& call);
  /// A round in which nothing is said, and nobody but the root awaited, if that.
  bool nod(std::size_t root, bool awaits);
  /// Begins the round of telling, in which some may write so many bytes of their slots.
  bool begin_telling(const buffer_places& mine, std::size_t in_slot);
  bool hear_from(std::size_t member);
  bool hear_all();
  std::uint64_t place_of(const void* buffer, std::size_t bytes) const noexcept;
  /// What another process told of; null: that cannot be, and the communicator has failed.
  std::byte* find(std::size_t member, std::uint64_t place, std::size_t bytes);
  /// The call has failed: blocks until the others use none of this process's buffers, or cannot be heard.
  void withdraw();

  // node_long_slots.cpp; the same
  static constexpr std::size_t long_slots_in_ring = 4;
  /// Makes the long slots, at the first call that has need of them. One round.
  bool open_long_slots();
  /// Chooses the slots by which an input of so many bytes is given: `slot_bytes_`. `one_way`: who reads them has
  /// nothing to do but to wait for who writes.
  bool take_slots_for(std::size_t bytes, bool one_way);
  /// Whether a reduction, longer than a slot, goes by long slots.
  bool combines_in_shares(const leader_call& call) const noexcept;
  bool reduce_by_shares(const leader_call& call);
  /// The same once all have given their first pieces in the round that has ended.
  bool reduce_given(const leader_call& call);
  std::size_t piece_in_shares(std::size_t element) const noexcept;
  leader_call piece_of(const leader_call& call, std::size_t number) const noexcept;
  void give_for_shares(const leader_call& piece) noexcept;
  void combine_own_share(const leader_call& piece);
  void take_shares_of(const leader_call& piece) noexcept;
  std::byte* share_in_slot(std::size_t member, std::size_t element) const noexcept;

  process& host_;
  const std::uint64_t communicator_;
  const std::vector<int>& leaders_;
  std::atomic<bool> failed_{false};
  fabric::arena_rounds rounds_;
  std::vector<const std::byte*> inputs_;  // of each process
  std::vector<const std::byte*> seen_;    // shares of them that are combined where they lie; null: copied first
  const bool reads_;                      // the others' memory
  node_limits limits_;
  const std::optional<node_groups> groups_;
  const std::vector<fabric::arena_boards::seat> seats_;
  std::vector<std::int64_t> pids_;                  // their numbers in this PID namespace
  std::vector<std::uint64_t> told_;                 // by each process, in the latest exchange
  std::vector<std::uint64_t> lies_;                 // where that is in the heap of each; buffer_places::elsewhere
  std::vector<move> moves_;                         // from each process, in the latest call that moved blocks
  const std::shared_ptr<fabric::arena_heap> heap_;  // null: there are none
  std::vector<std::size_t> regions_;                // of the processes in it
  std::vector<buffer_places> places_;               // told by each process in the round `telling_`
  std::uint32_t telling_ = 0;
  std::vector<std::byte*> outputs_;  // of each process, where this one finds them
  enum class opening : unsigned char { not_tried, open, refused };
  opening long_slots_ = opening::not_tried;
  std::vector<std::byte*> long_slots_of_;  // of each process: its long slots
  const std::size_t long_slot_bytes_;
  fabric::slot_ring ring_of_long_slots_;
  std::size_t long_slot_ = 0, long_slot_before_ = 0;  // where this round's lies, and that of the latest with one before
  const bool crowded_;                                // processes of the node share CPUs
  aligned_bytes scratch_;
  std::size_t scratch_bytes_ = 0;
  // The kernel of the latest operator and type.
  kernels::operation op_ = kernels::operation::sum;
  kernels::type type_ = kernels::type::float32;
  kernels::combine_function kernel_;
  // Of the latest call:
  std::size_t slot_bytes_ = fabric::arena_slot_bytes;  // of which a piece is no longer
  bool in_long_slots_ = false;
  bool custom_ = false;                             // by an operator of the caller's
  std::exception_ptr thrown_;                       // by it, here
  std::shared_ptr<const fabric::poison> poisoned_;  // why there is no result
  std::uint64_t fingerprint_ = 0;
  std::uint32_t sequence_ = 0;
};

}  // namespace weft::detail
