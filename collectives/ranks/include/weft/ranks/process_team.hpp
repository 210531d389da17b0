// SPDX-License-Identifier: Apache-2.0
// Collectives among the ranks of a process, in their own buffers, and with other processes' once these have joined.
#pragma once

#include <optional>
#include <weft/hierarchy/leaders.hpp>
#include <weft/ranks/exchange_party.hpp>
#include <weft/ranks/process_party.hpp>

namespace weft::detail {

/// How many bytes each rank that gives any would show, where it could: the same for all ranks.
std::optional<std::size_t> showable_bytes(const meeting& here, const request& call, const request_shape& shape);
/// The same where it does: the choice is for that pattern, or it is named.
std::optional<std::size_t> shown_bytes(const meeting& here, const request& call, const request_shape& shape,
                                       const schedules::selection_parameters& selection);

/// One rank's calls, each of which it carries out where it is the last of its worker, whose ranks have all made the
/// same one: chooses the pattern (weft/patterns/served.hpp) and runs it. Where there are other processes the ranks join
/// first:
///
///     a pattern, into what the process has for the others -> among the processes, by the last rank of the first worker
///     -> a pattern, out of what came of that
class process_team {
 public:
  process_team(meeting& here, std::size_t seat, const schedules::selection_parameters& selection);

  /// This rank's next call has other terms than the latest.
  void forget_terms() noexcept { has_terms_ = false; }
  /// Begins a call, which lives until it has run.
  void begin(const request& call, const request_shape& shape) {
    call_ = &call;
    if (!has_terms_) [[unlikely]]
      take_terms(shape);
    if (!at_once_) p_.start(call.custom);
  }

  /// Blocks. Of the seats of its worker `failure` is set then.
  void run();

  /// Whether all show what they give. Then it is the same in two steps, of which the first does not block.
  bool is_shown() const { return here_.at(seat_).known->shown.has_value(); }
  /// And each rank has a worker of its own.
  bool is_exchange() const { return is_shown() && here_.most_on_a_worker() == 1; }
  void show() {
    if (!at_once_) return show_given();
    patterns::show_input(exchange_, {0, count_}, patterns::everyone);
  }
  /// Behind `show`, where this worker does not use what is shown before it does something else: who waits is woken.
  void wake() noexcept { at_once_ ? exchange_.end_with_all() : p_.end(); }
  void use_shown() {
    if (!at_once_) return use_given();
    if (!patterns::combine_shown(exchange_, {0, count_})) [[unlikely]]
      end_failed();
  }

 private:
  bool alone() const { return here_.alone(); }
  bool is_exclusive() const { return call_->what == collective::exscan; }
  bool root_is_here() const { return here_.between().process_of(call_->root) == here_.between().here(); }
  /// The seat whose buffer all here take the result from, or that has it alone.
  std::size_t owner() const {
    return schedules::is_rooted(call_->what) && root_is_here() ? here_.seat_of(call_->root) : 0;
  }
  void take_terms(const request_shape& shape);
  std::size_t moved() const;
  bool is_sole() const;
  void place_blocks();
  std::size_t scratch_bytes() const;

  std::size_t shown_elements() const {
    const std::size_t bytes = *here_.at(seat_).known->shown;
    return bytes == bytes_ ? count_ : bytes / element_;
  }
  void show_given();
  void use_given();
  bool run_shown();
  void end_failed();
  void rethrow_thrown();
  bool run_in_place();
  void work();
  bool then();

  // Among several processes:
  /// Into what this process has for the others, or all ranks here have together.
  void join();
  /// Where the blocks of the ranks here begin in the vector of all: bytes.
  std::size_t first_byte() const { return places().begin(here_.rank_at(0)) * element_; }
  const block_places& places() const { return here_.workers()[worker_].places; }
  /// Of a collective of blocks, where those of the ranks here lie, or in a reduce-scatter all do.
  std::byte* target() const;
  std::byte* before() const { return here_.target; }  ///< of a scan: what the processes before have together
  std::byte* total() const { return is_exclusive() ? here_.target + bytes_ : here_.at(here_.size() - 1).output; }
  void run_between();
  void set_counts(leader_call& call) const;
  void set_buffers(leader_call& call) const;
  bool take();
  void scan_behind();

  /// Of an all-to-all: all that goes from here to other processes, or comes from them.
  std::size_t bytes_away() const { return here_.size() * (bytes_ - here_.size() * block_bytes_); }
  /// Calls `each` with the first rank and the number of ranks of every other process.
  template <class Each>
  void for_others(Each each) const;
  void pack();
  void unpack();

  /// What the communicator has failed with.
  std::exception_ptr failure() const;
  bool meet_again();
  void end_badly();
  void end_served(const std::exception_ptr& failure);
  /// Of those that depend on what an operator was to make, and where one threw.
  void end_poisoned(const fabric::poison& poisoned, const std::exception_ptr& of_first);
  /// The worker whose operator threw in what the firsts have made; null: none.
  const meeting::worker* thrower() const;
  fabric::poison poison_of(const meeting::worker& thrower) const;

  meeting& here_;
  const std::size_t seat_;  ///< of the rank that carries it out
  const schedules::selection_parameters& selection_;
  const std::size_t worker_;
  process_party p_;
  exchange_party exchange_;
  const request* call_ = nullptr;
  // Of the latest call, and of this one while it has the same terms:
  bool has_terms_ = false;
  std::size_t bytes_ = 0;        ///< of the vector
  std::size_t block_bytes_ = 0;  ///< of a block, where all are equal
  std::size_t element_ = 1;      ///< bytes: where nothing is combined elements are those
  std::size_t count_ = 0;        ///< of the vector
  bool at_once_ = false;         ///< it goes by exchange_
  bool agreed_ = true;           ///< on the counts of an all-to-all
};

}  // namespace weft::detail
