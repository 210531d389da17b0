// SPDX-License-Identifier: Apache-2.0
// The tree that a reduction of the table of algorithms climbs, whole: for who wants several ranks' steps, or the tree.
#pragma once

#include <vector>
#include <weft/schedules/algorithms.hpp>
#include <weft/schedules/rank_order.hpp>

namespace weft::schedules {

/// Whether the ranks have other places than the shape gives them, for the sake of their order: with root 0 each subtree
/// of a shape that can keep the order is a row of ranks already.
bool reorders(const algorithm_arguments& of) noexcept;

/// `shape` with the names that `of` asks for: its own, or those of in_rank_order. Throws what the shape throws.
rank_ordered_tree reduction_tree(tree (*shape)(const algorithm_arguments&), const algorithm_arguments& of);

/// Of every rank: the ones given, or those of ranks that are alike. Throws std::invalid_argument unless there is one
/// for each rank, or none.
std::vector<rank_costs> costs_of_ranks(const algorithm_arguments& of);

}  // namespace weft::schedules
