// SPDX-License-Identifier: Apache-2.0
// Workloads from schedule builders.
#include <algorithm>
#include <limits>
#include <vector>
#include <weft/schedules/builders.hpp>
#include <weft/schedules/every_rank.hpp>
#include <weft/schedules/reduction_tree.hpp>

#include "emitted_steps.hpp"

namespace weft::simulator {
namespace {

/// A reduction over a tree, rank after rank.
class tree_steps {
 public:
  tree_steps(const schedules::rank_ordered_tree& over, const schedules::pipeline& by,
             const schedules::partition& counts)
      : over_(over), by_(by), counts_(counts) {}

  workload emit() {
    for (int rank = 0; rank < over_.of.ranks(); ++rank)
      if (!emit_like_another(rank)) emit_rank(rank);
    return into_.finish();
  }

 private:
  /// A rank's parent, in place of a child's place among children.
  static constexpr std::size_t parent = std::numeric_limits<std::size_t>::max();
  struct known_steps {
    int rank = -1;
    std::vector<std::size_t> peers;  ///< its children by their places, and its parent
  };

  /// Only the head and the root have more to do than others with as many children.
  bool is_plain(int rank) const { return rank != over_.of.root() && rank != over_.root; }

  bool emit_like_another(int rank) {
    const auto children = over_.of.children(rank);
    if (!is_plain(rank) || children.size() >= known_.size() || known_[children.size()].rank == -1) return false;
    const known_steps& like = known_[children.size()];
    peers_.clear();
    for (const std::size_t place : like.peers)
      peers_.push_back(place == parent ? over_.of.parent(rank) : children[place]);
    into_.end_rank_like(like.rank, peers_);
    return true;
  }

  void emit_rank(int rank) {
    emitted_steps to(counts_, 1, into_);
    schedules::tree_reduce(over_.position(rank), by_, to);
    into_.end_rank();
    if (!is_plain(rank)) return;
    const auto children = over_.of.children(rank);
    known_steps made{rank, {}};
    for (const std::int32_t peer : into_.peers_of(rank)) {
      const auto place = static_cast<std::size_t>(std::ranges::find(children, peer) - children.begin());
      made.peers.push_back(place == children.size() ? parent : place);
    }
    known_.resize(std::max(known_.size(), children.size() + 1));
    known_[children.size()] = std::move(made);
  }

  const schedules::rank_ordered_tree& over_;
  const schedules::pipeline& by_;
  const schedules::partition& counts_;
  workload_builder into_;
  std::vector<known_steps> known_;  ///< by the number of children
  std::vector<std::int32_t> peers_;
};

/// Rank after rank, each behind its arrival, where there are some.
workload emit_all(int ranks, const schedules::partition& counts, std::size_t element_size,
                  const std::function<void(int rank, schedules::sink& to)>& builder, std::span<const double> arrivals,
                  bool in_place) {
  workload_builder into;
  for (int rank = 0; rank < ranks; ++rank) {
    emitted_steps to(counts, element_size, into, arrivals.empty() ? 0 : arrivals[static_cast<std::size_t>(rank)]);
    if (in_place) to.make_in_place();
    builder(rank, to);
    into.end_rank();
  }
  return into.finish();
}

}  // namespace

workload workload_of(const schedules::algorithm& how, const schedules::algorithm_arguments& shape, std::size_t bytes) {
  const auto counts = schedules::counts_of(how.kind, shape.ranks, bytes);
  if (how.shape == nullptr || !shape.each.empty()) {
    std::vector<double> arrivals;
    for (const schedules::rank_costs& one : shape.each) arrivals.push_back(one.arrival);
    const bool in_place = how.kind == schedules::collective::broadcast;
    return emit_all(shape.ranks, counts, 1, schedules::steps_of(how, shape), arrivals, in_place);
  }
  const auto over = schedules::reduction_tree(how.shape, shape);
  return tree_steps(over, shape.by, counts).emit();
}

workload workload_of(int ranks, const schedules::partition& counts, std::size_t element_size,
                     const std::function<void(int rank, schedules::sink& to)>& builder,
                     std::span<const double> arrivals) {
  return emit_all(ranks, counts, element_size, builder, arrivals, false);
}

}  // namespace weft::simulator
