// Where the ranks of one process that are in one communicator meet.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>
#include <weft/fabric/participant.hpp>
#include <weft/operators.hpp>
#include <weft/runtime/event.hpp>

#include "fingerprint.hpp"
#include "rank_groups.hpp"

namespace weft::detail {

class block_places;
class leaders;
class process;

/// What the ranks of a process share of a communicator, and where they join their parts of a collective:
///
///     rank:  take a seat -> arrive ...................... job -> next ...... job -> next ... over
///     last:                       sees that all agree, says the first job;  the last to be done says the next one
///
/// Until all have arrived a rank may leave: when the communicator fails. From then on every rank's buffers may be used
/// by the others, and none leaves before it is over: what they do is bounded, or messages, which end by themselves
/// where the communicator fails.
class meeting final : public fabric::failure_listener {
 public:
  enum class job : std::uint8_t { join, take, over };  ///< see joined_work

  /// One rank's. Written by it before it arrives; in `failure` and below by whoever says the next job.
  struct alignas(64) seat {
    call_terms terms;
    std::uint32_t sequence = 0;
    user_function custom;
    const block_places* sent = nullptr;  ///< in an all-to-all; likewise what it receives
    const block_places* received = nullptr;
    std::shared_ptr<std::byte[]> common;  ///< an output that all have together; by whoever says the first job
    fabric::participant* member = nullptr;
    std::exception_ptr thrown;   ///< by its operator, in its share of the work
    std::exception_ptr failure;  ///< what its call ends with
    std::optional<job> next;
    event called, done;
  };

  /// Of all ranks of `members`, some of which `host` hosts.
  meeting(process& host, std::shared_ptr<const fabric::group> members);
  ~meeting();

  const std::shared_ptr<const fabric::group>& members() const noexcept { return members_; }
  /// All its ranks, those near each other together. Any thread.
  const rank_groups& groups();
  /// Whether collectives join the ranks of a process first: the option says so, and some process hosts several.
  bool joins() const noexcept { return joins_; }
  /// Whether the ranks of every process are consecutive.
  bool in_rows() const noexcept { return in_rows_; }
  /// Whether all ranks are in this process.
  bool alone() const noexcept { return ranks_.size() == static_cast<std::size_t>(members_->size()); }
  /// The processes among each other.
  leaders& between() noexcept { return *between_; }

  std::size_t size() const noexcept { return seats_.size(); }
  seat& at(std::size_t index) noexcept { return seats_[index]; }
  int rank_at(std::size_t index) const noexcept { return ranks_[index]; }
  /// The seat of a rank of this process.
  std::size_t seat_of(int rank) const;

  /// The buffers of the ranks that have arrived, by seat: each rank writes its own before it arrives.
  std::vector<const std::byte*> inputs;
  std::vector<std::byte*> outputs;
  // By whoever says the first job:
  std::byte* target = nullptr;           ///< where what they have is joined
  const block_places* places = nullptr;  ///< where the blocks of all ranks lie, but for all-to-alls

  /// Waits for the others. The first job; nothing where the communicator has failed, or where this is the last rank,
  /// who then has to say it: `last` is set. Blocks.
  std::optional<job> arrive(std::size_t index, bool& last);
  /// By the last to arrive, or to be done: what all do next. No rank leaves before it is told `over`.
  void say(std::size_t index, job next, bool arriving);
  /// This rank is done with its job: true where it is the last, who says the next. Never blocks.
  bool is_last_done() noexcept;
  /// Waits for the next job, where it is not. Blocks.
  job await_next(std::size_t index);

  /// Memory of `bytes` for what has no place in a rank's buffer; of the round.
  std::byte* scratch(std::size_t bytes);

 private:
  static constexpr std::uint32_t broken = std::uint32_t{1} << 31;

  void failed() noexcept override;
  void wake_those_that_arrived() noexcept;

  process& host_;
  const std::shared_ptr<const fabric::group> members_;
  std::once_flag grouped_;
  std::optional<rank_groups> groups_;
  std::vector<int> ranks_;  ///< of this process, ascending: one a seat
  std::vector<seat> seats_;
  bool joins_ = false;
  bool in_rows_ = true;
  std::unique_ptr<leaders> between_;
  std::unique_ptr<std::byte[]> scratch_;
  std::size_t scratch_bytes_ = 0;
  alignas(64) std::atomic<std::uint32_t> arrived_{0};  ///< ranks, and whether the communicator has failed
  alignas(64) std::atomic<std::uint32_t> working_{0};  ///< ranks that are not done with their job
};

}  // namespace weft::detail
