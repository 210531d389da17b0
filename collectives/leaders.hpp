// The part of a collective that goes from process to process, once the ranks of each have joined theirs.
#pragma once

#include <optional>
#include <vector>

#include "communicator_state.hpp"
#include "node_road.hpp"
#include "rank_groups.hpp"

namespace weft::detail {

/// A call among processes: as a request, but for buffers, which hold all of the vector.
struct leader_call {
  collective what = collective::barrier;
  const request* of = nullptr;      ///< operator, type
  std::size_t count = 0;            ///< elements of the vector; of an all-to-all, that this process sends
  std::size_t block = 0;            ///< where there are blocks: elements of each process's,
  std::vector<std::size_t> counts;  ///< or if they differ, of every one's; in an all-to-all as in collective_call
  int root = 0;                     ///< a process, in the order of `leaders`
  const std::byte* in = nullptr;
  std::byte* out = nullptr;
  std::uint32_t sequence = 0;
  std::uint64_t fingerprint = 0;
  user_function custom;                            ///< of the first rank here
  std::shared_ptr<const fabric::poison> poisoned;  ///< there is nothing to send
};

/// What came of it.
struct leader_result {
  std::exception_ptr failure;
  std::shared_ptr<const fabric::poison> poisoned;  ///< an operator's failure, after which the communicator goes on
};

/// The processes of a communicator, in the order of their first ranks, which are their leaders: their messages are the
/// leaders', on the communicator itself. Used by one rank of this process at a time.
class leaders {
 public:
  leaders(process& host, const fabric::group& members);

  int size() const noexcept { return static_cast<int>(leader_.size()); }
  /// The process that hosts `rank`, and this one, in that order.
  int process_of(int rank) const { return number_[static_cast<std::size_t>(rank)]; }
  int here() const noexcept { return here_; }
  /// The first rank of a process; of the one behind the last, the number of ranks.
  int first_rank(int process) const noexcept {
    return process < size() ? leader_[static_cast<std::size_t>(process)] : static_cast<int>(number_.size());
  }

  /// The memory that they share; null where they do not.
  node_road* road() noexcept { return road_.get(); }

  /// Runs the call through that memory where it goes that way, else by the schedule that `selection` says, as `member`,
  /// the first rank of this process. Blocks.
  leader_result run(const leader_call& call, fabric::participant& member,
                    const schedules::selection_parameters& selection);

 private:
  const prepared_call& prepare(const leader_call& call, const schedules::selection_parameters& selection);
  const rank_groups& groups();
  template <class Execution, class Run>
  leader_result run_by(const prepared_call& how, fabric::participant& member, Run&& run);

  process& host_;
  std::vector<int> leader_;   ///< of each process: its first rank
  std::vector<int> process_;  ///< of each: its number in the job
  std::vector<int> number_;   ///< of each rank: its process, in this order
  int here_ = 0;
  std::unique_ptr<node_road> road_;
  std::optional<rank_groups> groups_;
  plan_cache plans_;
  prepared_call latest_;
  const schedules::algorithm* named_ = nullptr;  ///< that the latest call was to take
};

}  // namespace weft::detail
