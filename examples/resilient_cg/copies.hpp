// SPDX-License-Identifier: Apache-2.0
// Copies of what the solver has come to, kept in the memory of other ranks, so that it outlives some of them, and in
// files, so that it outlives all.
#pragma once

#include <deque>
#include <optional>
#include <utility>
#include <vector>
#include <weft/communicator.hpp>

#include "conjugate_gradient.hpp"
#include "saved_files.hpp"
#include "saved_state.hpp"

namespace cg {

/// One rank's. Everything is collective among the ranks that live, and throws weft::peer_lost when one does not.
class copies {
 public:
  /// `files`: where the latest is kept, too, if anywhere.
  explicit copies(std::optional<saved_files> files) : files_(std::move(files)) {}

  /// Each rank keeps its own rows, and gives them to two others: one of another node, where there is one. The copies
  /// before the latest stay until all have these, and the files until all have written theirs. Behind a `restore` in
  /// the same communicator. Blocks. Throws agreed_error where a rank cannot write.
  void save(weft::communicator& world, const iterate& now, std::int64_t unknowns);

  /// The latest that every rank has copies of, or, where of some rows nobody has one any more, that of the files; dealt
  /// out by rows to the ranks of `world`. Empty where nothing is left, or nothing has been saved. Blocks. Throws
  /// agreed_error where files cannot be read, or are of another system.
  std::optional<iterate> restore(weft::communicator& world, std::int64_t unknowns);

  /// The system is solved. Blocks.
  void forget_files(weft::communicator& world);

 private:
  void choose_keepers(weft::communicator& world);
  summary latest_of_all(weft::communicator& world);
  std::vector<int> holders_of(weft::communicator& world, const summary& from);
  void read_files(weft::communicator& world, std::int64_t unknowns);
  iterate deal_out(weft::communicator& world, const summary& from, std::span<const int> holders, std::int64_t unknowns);
  std::span<const block> blocks() const;

  std::optional<saved_files> files_;

  std::vector<int> keepers_;      ///< who gets this rank's rows
  std::vector<int> kept_for_;     ///< whose rows this one gets
  std::deque<saved_state> kept_;  ///< two at most, the latest last
  saved_state spare_;             ///< memory for the next
  std::int64_t saved_ = 0;
};

}  // namespace cg
