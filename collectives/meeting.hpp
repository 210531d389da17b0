// Where the ranks of one process that are in one communicator meet.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>
#include <weft/fabric/participant.hpp>
#include <weft/kernels/combine.hpp>
#include <weft/operators.hpp>
#include <weft/runtime/event.hpp>

#include "fingerprint.hpp"
#include "rank_groups.hpp"
#include "worker_rounds.hpp"

namespace weft::detail {

class block_places;
class leaders;
class process;

/// What the ranks of a process share of a communicator, and where they meet for a collective, in two steps:
///
///     rank:                 arrives at the bench of its worker, and sleeps there until its call is over;
///     the last of a bench:  does the call's part for all of them, in a round with those of the other benches
///
/// A fiber stays on its worker, so that a bench is of one core (calls from other threads only make it slower).
/// Until all ranks have arrived any may leave: when the communicator fails. From then on the ranks' buffers may be used
/// by others than their worker's, and none leaves before it is over: what they do is bounded, or messages, which end by
/// themselves where the communicator fails.
class meeting final : public fabric::failure_listener {
 public:
  /// One rank's. Written by it before it arrives; in `failure` and below by whoever does its part.
  struct alignas(64) seat {
    call_terms terms;
    // What follows from the terms: a hash, how many bytes of each rank are copied (joined_work), the operator's kernel.
    std::uint64_t hash = 0;
    std::optional<std::size_t> copied;
    kernels::combine_function kernel = nullptr;
    std::uint32_t sequence = 0;
    user_function custom;
    const std::byte* input = nullptr;
    std::byte* output = nullptr;
    const block_places* sent = nullptr;  ///< in an all-to-all; likewise what it receives
    const block_places* received = nullptr;
    std::shared_ptr<std::byte[]> common;  ///< an output that all have together; by the one that conducts
    fabric::participant* member = nullptr;
    std::size_t bench = 0;
    std::exception_ptr thrown;   ///< by its operator, in its share of the work
    std::exception_ptr failure;  ///< what its call ends with
    bool over = false;
    event called;
  };

  /// The ranks of one worker.
  struct alignas(64) bench {
    std::vector<std::size_t> seats;                     ///< ascending
    alignas(64) std::atomic<std::uint32_t> arrived{0};  ///< ranks, and whether the communicator has failed
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

  /// Those on which ranks sit, and how their last ranks wait for each other.
  std::span<const bench> benches() const noexcept { return benches_; }
  std::size_t most_at_a_bench() const noexcept { return most_at_a_bench_; }
  worker_rounds& rounds() noexcept { return *rounds_; }

  // By the one that conducts a call which all do in each other's buffers:
  std::vector<const std::byte*> inputs;  ///< by seat
  std::vector<std::byte*> outputs;
  std::byte* target = nullptr;           ///< where what they have is joined
  const block_places* places = nullptr;  ///< where the blocks of all ranks lie, but for all-to-alls

  enum class arrival : std::uint8_t {
    last,    ///< at its bench: does the part of all who sit there, and then calls `release`
    over,    ///< that has been done
    failed,  ///< the communicator has, and nobody uses this rank's buffers
  };
  /// Waits for the end of the call, unless this rank is the last. Blocks.
  arrival arrive(std::size_t index);
  /// By the last of a bench: its ranks' call is over.
  void release(std::size_t index) noexcept;

  /// Memory of `bytes` for what has no place in a rank's buffer; of the round.
  std::byte* scratch(std::size_t bytes);

 private:
  static constexpr std::uint32_t broken = std::uint32_t{1} << 31;

  void seat_by_worker();
  void failed() noexcept override;
  void wake_all(const bench& of) noexcept;

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
  std::vector<bench> benches_;
  std::size_t most_at_a_bench_ = 0;
  std::optional<worker_rounds> rounds_;
};

}  // namespace weft::detail
