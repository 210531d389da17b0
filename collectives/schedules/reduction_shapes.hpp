// SPDX-License-Identifier: Apache-2.0
// The trees of the reductions in the table of algorithms, and a rank's place in them.
#pragma once

#include <algorithm>
#include <weft/schedules/algorithms.hpp>
#include <weft/schedules/builders.hpp>
#include <weft/schedules/reduction_tree.hpp>
#include <weft/schedules/regular_trees.hpp>
#include <weft/schedules/uneven_tree.hpp>

namespace weft::schedules {

inline tree binomial_shape(const algorithm_arguments& of) { return binomial_tree(of.ranks, of.root); }
inline tree fnomial_shape(const algorithm_arguments& of) { return fnomial_tree(of.ranks, of.root, of.degree); }
inline tree chain_shape(const algorithm_arguments& of) { return chain_tree(of.ranks, of.root); }
inline tree fibonacci_shape(const algorithm_arguments& of) { return fibonacci_tree(of.ranks, of.root); }
inline tree greedy_shape(const algorithm_arguments& of) {
  return greedy_tree(of.ranks, of.root, of.transfer, of.compute, of.within, of.latency);
}
/// Of a latency only the greedy tree knows, which is the best where ranks are alike.
inline tree uneven_shape(const algorithm_arguments& of) {
  const bool alike = of.each.empty() && of.latency > 0;
  return alike ? greedy_tree(of.ranks, of.root, of.transfer, of.compute, {}, of.latency)
               : uneven_tree(costs_of_ranks(of), of.root);
}

/// The rank that comes last; of several, and where all come at once, the first.
inline int latest_rank(const algorithm_arguments& of) {
  const auto latest = std::ranges::max_element(of.each, {}, &rank_costs::arrival);
  return latest == of.each.end() ? 0 : static_cast<int>(latest - of.each.begin());
}
/// `of.rank`'s place in uneven_shape with that root.
inline tree_position arrival_place(algorithm_arguments of, int root) {
  of.root = root;
  return uneven_shape(of).position(of.rank);
}

// Of trees in which arithmetic knows a rank's place.
inline tree_position binomial_place(const algorithm_arguments& of) {
  return binomial_position(of.ranks, of.root, of.rank);
}
inline tree_position fnomial_place(const algorithm_arguments& of) {
  return fnomial_position(of.ranks, of.root, of.degree, of.rank);
}
inline tree_position chain_place(const algorithm_arguments& of) { return chain_position(of.ranks, of.root, of.rank); }

/// Emits `of.rank`'s steps over the tree, which is made whole.
template <tree (*shape)(const algorithm_arguments&)>
void reduce_by_shape(const algorithm_arguments& of, sink& to) {
  tree_reduce(reduction_tree(shape, of).position(of.rank), of.by, to);
}

/// The same without making the tree, where its ranks keep their names.
template <tree (*shape)(const algorithm_arguments&), tree_position (*place)(const algorithm_arguments&)>
void reduce_by_place(const algorithm_arguments& of, sink& to) {
  if (reorders(of)) return reduce_by_shape<shape>(of, to);
  tree_reduce(place(of), of.by, to);
}

}  // namespace weft::schedules
