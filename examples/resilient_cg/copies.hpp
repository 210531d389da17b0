// Copies of what the solver has come to, kept in the memory of other ranks, so that it outlives some of them.
#pragma once

#include <deque>
#include <optional>
#include <vector>
#include <weft/communicator.hpp>

#include "conjugate_gradient.hpp"
#include "sparse_rows.hpp"

namespace cg {

/// One rank's. Everything is collective among the ranks that live, and throws weft::peer_lost when one does not.
class copies {
 public:
  /// Each rank keeps its own rows, and gives them to two others: one of another node, where there is one. The copies
  /// before the latest stay until all have these. Behind a `restore` in the same communicator. Blocks.
  void save(weft::communicator& world, const iterate& now, std::int64_t unknowns);

  /// The latest that every rank has copies of, dealt out by rows to the ranks of `world`; empty where of some rows
  /// nobody has one any more, or nothing has been saved. Blocks.
  std::optional<iterate> restore(weft::communicator& world, std::int64_t unknowns);

 private:
  /// Of one rank's rows.
  struct block {
    int rank = -1;                 ///< in the communicator that it was saved in
    std::vector<double> values{};  ///< x, then r, then p
  };
  /// What all ranks have alike of one state of the solver.
  struct summary {
    std::int64_t number = -1;  ///< of the calls of `save`
    int ranks = 0;             ///< of the communicator
    int iterations = 0;
    double rz = 0, b_norm = 0, residual = 0;
  };
  /// What a rank has of it.
  struct state {
    summary shared;
    std::vector<block> blocks{};  ///< by rank
  };

  void choose_keepers(weft::communicator& world);
  summary latest_of_all(weft::communicator& world);
  iterate deal_out(weft::communicator& world, const summary& from, std::span<const int> holders, std::int64_t unknowns);
  std::span<const block> blocks() const;

  std::vector<int> keepers_;   ///< who gets this rank's rows
  std::vector<int> kept_for_;  ///< whose rows this one gets
  std::deque<state> kept_;     ///< two at most, the latest last
  state spare_;                ///< memory for the next
  std::int64_t saved_ = 0;
};

}  // namespace cg
