// Collectives among processes of one node, in the memory that they share.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>
#include <weft/fabric/arena_boards.hpp>
#include <weft/fabric/arena_rounds.hpp>
#include <weft/fabric/participant.hpp>
#include <weft/kernels/combine.hpp>
#include <weft/schedules/collective.hpp>

namespace weft::detail {

class process;
using schedules::collective;
struct leader_call;
struct leader_result;
struct request;

/// The processes of a communicator that lies on one node. A short call is one round of its boards (arena_rounds.hpp):
/// every process writes its vector beside a stamp, and whoever needs the result combines all of them in the order of
/// the processes, so that all get the same bits. Of a long one each process combines a share, out of what it reads of
/// the others' memory, and takes the rest from theirs; where they cannot read each other's it goes by short ones, a
/// piece after the other. Used by one rank of this process at a time.
class node_road {
 public:
  /// The road of the communicator whose processes sit on these boards, in their order, this one at `self`, where all of
  /// them share memory and have one; else null. `leaders`: the first rank of each.
  static std::unique_ptr<node_road> of(process& host, std::uint64_t communicator,
                                       const std::vector<fabric::arena_boards::seat>& seats,
                                       const std::vector<int>& leaders, std::size_t self);

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

  // node_road.cpp; false: the communicator has failed
  bool go(const leader_call& call);
  bool go_short(const leader_call& call);
  bool go_in_pieces(const leader_call& call);
  bool begin();
  bool await(std::size_t member);
  bool await_all();
  void report_difference(std::size_t member);
  /// What `inputs_` say, of `count` elements.
  void combine(const leader_call& call, std::size_t count, std::byte* target);

  // node_reading.cpp: long calls; the same
  bool go_by_reading(const leader_call& call);
  bool broadcast_by_reading(const leader_call& call);
  /// Tells all others the address of what they may read, in `told_` what they tell.
  bool exchange(const void* address);
  bool meet() { return exchange(nullptr); }
  range share_of(const leader_call& call, std::size_t member) const noexcept;
  /// `pieces`: memory for `piece` bytes of each other process.
  bool combine_share(const leader_call& call, range share, std::byte* target, std::byte* pieces, std::size_t piece);
  bool take_shares(const leader_call& call);
  bool read(std::size_t member, std::uint64_t address, std::byte* into, std::size_t bytes);
  std::byte* scratch(std::size_t bytes);

  process& host_;
  const std::uint64_t communicator_;
  const std::vector<int>& leaders_;
  std::atomic<bool> failed_{false};
  fabric::arena_rounds rounds_;
  std::vector<const std::byte*> inputs_;  // of each process
  const bool reads_;                      // the others' memory
  const std::vector<fabric::arena_boards::seat> seats_;
  std::vector<std::int64_t> pids_;   // their numbers in this PID namespace
  std::vector<std::uint64_t> told_;  // by each process, in the latest exchange
  std::unique_ptr<std::byte[]> scratch_;
  std::size_t scratch_bytes_ = 0;
  // The kernel of the latest operator and type.
  kernels::operation op_ = kernels::operation::sum;
  kernels::type type_ = kernels::type::float32;
  kernels::combine_function kernel_;
  std::uint64_t fingerprint_ = 0;  // of this process's round
  std::uint32_t sequence_ = 0;
};

}  // namespace weft::detail
