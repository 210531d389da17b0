// SPDX-License-Identifier: Apache-2.0
// Where the ranks of one process that are in one communicator meet.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>
#include <weft/choice/rank_groups.hpp>
#include <weft/fabric/participant.hpp>
#include <weft/fabric/token.hpp>
#include <weft/operators.hpp>
#include <weft/ranks/worker_rounds.hpp>
#include <weft/request/block_places.hpp>
#include <weft/request/known_call.hpp>
#include <weft/runtime/event.hpp>
#include <weft/runtime/memory_budget.hpp>

namespace weft::detail {

class leaders;
class meeting;
class process;

/// Meetings, by their numbers, as long as somebody has them. Any thread.
class meetings {
 public:
  /// That of this number; null where there is none.
  std::shared_ptr<meeting> find(std::uint64_t number);
  /// That, or else what `make` returns, by one at a time.
  std::shared_ptr<meeting> find_or_make(std::uint64_t number, const std::function<std::shared_ptr<meeting>()>& make);

 private:
  /// Guards the next. Not a mutex: all ranks of the process ask at once, and sleeping takes far longer than waiting.
  fabric::token guard_;
  std::unordered_map<std::uint64_t, std::weak_ptr<meeting>> known_;
};

/// What the ranks of a process share of a communicator, and where they meet for a collective, in two steps:
///
///     rank:                 arrives at its worker, and where it waits sleeps there until its call is over;
///     a worker's last rank: does the call's part for all of them, in a round with those of the other workers
///
/// A fiber stays on its worker, and that on its core (calls from other threads only make it slower).
/// Until all ranks have arrived any may leave: when the communicator fails. From then on the ranks' buffers may be used
/// by others than their worker's, and none leaves before it is over: what they do is bounded, or messages, which end by
/// themselves where the communicator fails.
class meeting final : public fabric::failure_listener {
 public:
  /// One rank's. Written by it before it arrives; in `failure` and below by whoever does its part.
  struct alignas(64) seat {
    const known_call* known = nullptr;  ///< the rank's own, whose terms these are; the others read the terms alone
    call_terms terms;
    std::uint32_t sequence = 0;
    user_function custom;
    const std::byte* input = nullptr;
    std::byte* output = nullptr;
    block_places sent, received;  ///< in an all-to-all with counts: bytes
    fabric::participant* member = nullptr;
    std::shared_ptr<std::byte[]> common;  ///< an output that all have together
    std::exception_ptr failure;           ///< what its call ends with
    bool over = false;
    std::size_t ended_by = 0;  ///< the seat of who arrived last, once it is over
    event called;

    /// The call in the bits that a stamp has for it, by the rank. Fibonacci hashing (Knuth, volume 3, 6.4): the upper
    /// half of the product depends on every bit.
    std::uint32_t stamp() const noexcept {
      return static_cast<std::uint32_t>(((known->hash ^ sequence) * 0x9e3779b97f4a7c15u) >> 32);
    }
  };

  /// The ranks of one worker.
  struct alignas(64) worker {
    std::vector<std::size_t> seats;                     ///< ascending
    alignas(64) std::atomic<std::uint32_t> arrived{0};  ///< ranks, and whether the communicator has failed
    // By the last, for its call:
    alignas(64) std::vector<std::byte*> inputs;  ///< of all ranks, by seat
    std::vector<std::byte*> outputs, targets, operands;
    block_places places;                  ///< where the blocks of all ranks lie, but for all-to-alls
    std::exception_ptr thrown;            ///< by the last one's operator; once it has published that the others read it
    std::size_t thrower = 0;              ///< its seat
    std::atomic<std::uint64_t> calls{0};  ///< of its ranks that are over, where there are other processes
  };

  /// Of all ranks of `members`, some of which `host` hosts, and which outlives it.
  meeting(process& host, std::shared_ptr<const fabric::group> members);
  ~meeting();

  /// That of the plan of this number, where all of these ranks have these boards: the same for all ranks here, which
  /// call this with a `holder` of this meeting, and one that fails where this does. Any thread.
  static std::shared_ptr<meeting> of_plan(const std::shared_ptr<meeting>& holder, const fabric::participant& member,
                                          std::uint32_t number, std::vector<fabric::board_ticket> boards);

  process& host() const noexcept { return host_; }
  const std::shared_ptr<const fabric::group>& members() const noexcept { return members_; }
  /// All its ranks, those near each other together. Any thread.
  const rank_groups& groups();
  /// What its ranks here share that is made of all of them: what `make` returned for the first that asked. Any thread.
  std::shared_ptr<const void> common_to_ranks(const std::function<std::shared_ptr<const void>()>& make);
  /// Whether collectives join the ranks of a process first: the option says so, and some process hosts several.
  bool joins() const noexcept { return joins_; }
  /// Whether the ranks of every process are consecutive.
  bool in_rows() const noexcept { return in_rows_; }
  /// Whether this process has more than one of the ranks, and whether it has all.
  bool has_several() const noexcept { return ranks_.size() > 1; }
  bool alone() const noexcept { return ranks_.size() == static_cast<std::size_t>(members_->size()); }
  /// The processes among each other.
  leaders& between() noexcept { return *between_; }

  std::size_t size() const noexcept { return seats_.size(); }
  seat& at(std::size_t index) noexcept { return seats_[index]; }
  /// The worker of a seat, and its place among those there: apart from the seats, which others write.
  std::size_t worker_of(std::size_t index) const noexcept { return places_[index].worker; }
  std::size_t place_of(std::size_t index) const noexcept { return places_[index].place; }
  int rank_at(std::size_t index) const noexcept { return ranks_[index]; }
  /// The seat of a rank of this process.
  std::size_t seat_of(int rank) const;

  /// Those on which ranks sit, and how their last ranks wait for each other.
  std::span<worker> workers() noexcept { return workers_; }
  std::span<const worker> workers() const noexcept { return workers_; }
  std::span<const std::size_t> firsts() const noexcept { return firsts_; }      ///< the first seat of each
  std::span<const std::size_t> everyone() const noexcept { return everyone_; }  ///< all seats
  std::size_t most_on_a_worker() const noexcept { return most_on_a_worker_; }
  worker_rounds& rounds() noexcept { return *rounds_; }

  // By the last rank of the first worker; once it has published that the others read it:
  std::byte* target = nullptr;          ///< where what all have is joined
  std::shared_ptr<std::byte[]> common;  ///< or that, where all get it together
  leader_call call;                     ///< among the processes
  leader_result result;

  enum class arrival : std::uint8_t {
    early,   ///< others have yet to arrive
    last,    ///< at its worker: does the part of all its ranks, and then calls `release`
    over,    ///< that has been done
    failed,  ///< the communicator has, or a rank has left it, and nobody uses this rank's buffers
  };
  /// Does not block.
  arrival arrive(std::size_t index);
  /// By who was not the last: waits for the end of the call. `over`, or `failed`. Blocks.
  arrival await_end(std::size_t index);
  /// By the last rank of a worker: its ranks' call is over.
  void release(std::size_t index) noexcept;
  /// The rank there makes no further call: who waits for it here has waited in vain. Any thread.
  void leave(std::size_t index) noexcept;
  /// The same for all that were in the communicator before this was made. By who makes it.
  void miss_who_left();
  /// Why the member's call has failed, where that is so: the communicator has, or does now since a rank here has left.
  std::exception_ptr failure_of(const fabric::participant& member);

  /// Breaks the communicator because the ranks at two seats call different things; of an all-to-all with counts where
  /// what a rank sends another is not what that expects: then false.
  void refuse_difference(std::size_t one, std::size_t another);
  bool agree_on_counts();
  /// The calls of these seats end with `failure`.
  void end_calls(std::span<const std::size_t> seats, const std::exception_ptr& failure) noexcept;

  /// Memory of `bytes` for what has no place in a rank's buffer, until the next call. By the first worker's last rank.
  /// Throws std::bad_alloc, errc::out_of_memory.
  std::byte* scratch(std::size_t bytes);
  /// That is not used any more, unless it is a plan's, which starts without an allocation: by the same, once its call
  /// has ended well.
  void free_long_scratch() noexcept;

 private:
  // Of worker::arrived:
  static constexpr std::uint32_t broken = std::uint32_t{1} << 31;  // the communicator has failed
  static constexpr std::uint32_t left = std::uint32_t{1} << 30;    // a rank has left

  void free_scratch() noexcept;
  void seat_by_worker();
  /// Of the rank on a seat.
  int rank_in_job(std::size_t index) const noexcept {
    return members_->world[static_cast<std::size_t>(ranks_[index])];
  }
  void refuse(const std::string& why);
  void follow(const fabric::participant& member);
  void failed() noexcept override;
  void wake_all(const worker& of) noexcept;
  void count_call(worker& of) noexcept;
  void close_if_over() noexcept;

  process& host_;
  const std::shared_ptr<const fabric::group> members_;
  std::shared_ptr<meeting> followed_;  ///< of the communicator, where this is of a plan
  meetings of_plans_;
  std::vector<meeting*> followers_;  ///< that fail with this; the messenger's token guards it
  std::once_flag grouped_;
  std::optional<rank_groups> groups_;
  std::mutex making_common_;  ///< guards the next
  std::shared_ptr<const void> common_to_ranks_;
  std::vector<int> ranks_;  ///< of this process, ascending: one a seat
  std::vector<seat> seats_;
  struct seat_place {
    std::size_t worker = 0, place = 0;
  };
  std::vector<seat_place> places_;  ///< of the seats
  bool joins_ = false;
  bool in_rows_ = true;
  std::unique_ptr<leaders> between_;
  std::unique_ptr<std::byte[]> scratch_;
  std::size_t scratch_bytes_ = 0;
  memory_charge scratch_charge_;
  std::vector<worker> workers_;
  std::vector<std::size_t> firsts_, everyone_;
  std::size_t most_on_a_worker_ = 0;
  std::optional<worker_rounds> rounds_;
  std::atomic<int> left_{-1};  // one of the ranks here that have
  /// Where there are other processes: the calls of the rank that has left. Once the first worker has been in as many
  /// this process is in none any more.
  std::atomic<std::uint64_t> last_call_{~std::uint64_t{0}};
};

}  // namespace weft::detail
