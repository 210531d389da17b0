// SPDX-License-Identifier: Apache-2.0
// Which rank lies where on a grid, so that few neighbours are on different nodes.
//
//   4 x 4 ranks on nodes of 4, row by row:  a a a a    and in blocks:  a a b b
//                                           b b b b                    a a b b
//   12 pairs on different nodes             c c c c    8 pairs         c c d d
//                                           d d d d                    c c d d
#pragma once

#include <cstdint>
#include <span>
#include <vector>
#include <weft/grid_shape.hpp>

namespace weft::detail {

/// The pairs of neighbours that are on different nodes, where the rank at each place is on that node.
std::int64_t pairs_between_nodes(const grid_shape& shape, std::span<const int> node_at);

/// The place of each rank, which is on that node: of the order of the ranks, that node by node and, where all nodes
/// have as many ranks and the grid can be tiled so, that in blocks of one node each, the one with the fewest pairs
/// between nodes.
std::vector<int> places_by_node(const grid_shape& shape, std::span<const int> nodes);

}  // namespace weft::detail
