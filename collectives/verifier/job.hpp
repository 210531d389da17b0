// SPDX-License-Identifier: Apache-2.0
// The schedules of all ranks as one numbering of steps, and what the verifier's parts share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>
#include <weft/verifier/fault.hpp>

#include "contributions.hpp"

namespace weft::schedules {

/// Thrown by every check that fails; caught by verify.
struct fault_found {
  fault found;
};
[[noreturn]] void fail(int rank, std::string what);
[[noreturn]] void fail(int rank, step_index index, const step& at, const std::string& what);

/// "step 7 (send to rank 4)"
std::string name_of(step_index index, const step& of);
/// "scratch slot 2", "output block 5"
std::string name_of(const segment& memory);
std::string name_of(block_range elements);
std::string name_of(const block_set& held);

/// Number of a step among those of all ranks.
using job_step = std::uint32_t;
inline constexpr job_step no_partner = std::numeric_limits<job_step>::max();

constexpr bool is_outgoing(step_kind kind) { return kind == step_kind::send || kind == step_kind::notify; }
constexpr bool is_incoming(step_kind kind) { return kind == step_kind::receive || kind == step_kind::await; }
/// What it names is only talked of.
constexpr bool is_word(step_kind kind) { return kind == step_kind::notify || kind == step_kind::await; }
constexpr bool is_local(step_kind kind) { return kind == step_kind::copy || kind == step_kind::combine; }

/// All ranks' schedules, well formed, their messages matched.
class job {
 public:
  /// Checks form and messages: see verify. The schedules must outlive the job.
  job(const purpose& meant, std::span<const schedule> ranks);

  int ranks() const { return static_cast<int>(ranks_.size()); }
  const schedule& of(int rank) const { return ranks_[static_cast<std::size_t>(rank)]; }
  std::size_t steps() const { return rank_of_.size(); }

  int rank_of(job_step s) const { return rank_of_[s]; }
  step_index index_of(job_step s) const {
    return static_cast<step_index>(s - first_[static_cast<std::size_t>(rank_of_[s])]);
  }
  job_step number(int rank, step_index index) const { return first_[static_cast<std::size_t>(rank)] + index; }
  const step& at(job_step s) const { return of(rank_of(s)).steps[index_of(s)]; }
  job_step partner(job_step s) const { return partner_[s]; }  ///< of a message; no_partner for local steps
  /// The blocks that the message `s`, a send or a receive, carries, in order.
  std::vector<std::uint32_t> carried(job_step s) const;
  /// What a notify offers, or an await is offered, with their owner.
  std::vector<segment> offered(job_step s) const;
  /// Calls `each` with the number of every step that `s` depends on.
  template <class Each>
  void for_each_before(job_step s, Each&& each) const {
    for (const step_index before : of(rank_of(s)).after(at(s))) each(number(rank_of(s), before));
  }

  /// The rank in whose memory `memory`, named by a step of `rank`, lies.
  static int owner(int rank, const segment& memory) { return memory.owner == me ? rank : memory.owner; }

 private:
  void match_messages();

  std::span<const schedule> ranks_;
  std::vector<job_step> first_;
  std::vector<int> rank_of_;
  std::vector<job_step> partner_;
};

/// Checks that layouts fit the purpose and steps their layouts.
void check_form(const purpose& meant, std::span<const schedule> ranks);

/// A step's begin or its end.
struct step_event {
  job_step step;
  bool end;
};

/// Which executor runs the schedules.
enum class execution_order : std::uint8_t { dataflow, in_order };

/// Begins and ends of all steps in an order that can happen without any buffering. Fails when there is none.
std::vector<step_event> check_progress(const job& all, execution_order by);

/// Whether input and output are different memories.
enum class placing : std::uint8_t { separate, in_place };

/// Checks that conflicting accesses are ordered. `order` comes from check_progress.
void check_accesses(const job& all, std::span<const step_event> order, placing where);

/// Checks that what is read in another rank's memory has been offered before, and that rank stays until it has been.
void check_reads(const job& all, std::span<const step_event> order);

struct output_block {
  int rank;
  std::uint32_t block;
  value_number holds;
};
/// What all output blocks hold, by rank. Many hold the same value.
struct symbolic_outputs {
  value_table values;
  std::vector<output_block> blocks;
};
/// Runs the schedules on symbols. Fails when something is read before it is written or combined twice.
symbolic_outputs run_symbolically(const job& all, std::span<const step_event> order, placing where);

/// Checks that they hold what the purpose asks for.
void check_outputs(const purpose& meant, const job& all, const symbolic_outputs& outputs);

/// Checks that every rank's end comes after every other one's begin.
void check_all_heard(const job& all, std::span<const step_event> order);

}  // namespace weft::schedules
