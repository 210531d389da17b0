// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>
#include <string>
#include <weft/schedules/regular_trees.hpp>

#include "arguments.hpp"
#include "tree_numbering.hpp"

namespace weft::schedules {

tree_position fnomial_position(int ranks, int root, int degree, int rank) {
  check_rank(ranks, root, "root");
  check_rank(ranks, rank, "rank");
  if (degree < 2)
    throw std::invalid_argument("an f-nomial tree has a degree of at least 2, not " + std::to_string(degree));
  // In 64 bits, for products and for sums of two ranks.
  const long long place = place_from_root(ranks, root, rank);
  tree_position position{rank, -1, {}, -1};
  for (long long stride = 1; stride < ranks; stride *= degree) {
    const long long digit = place / stride % degree;
    if (digit != 0) {
      position.parent = rank_at_place(ranks, root, place - digit * stride);
      break;
    }
    for (long long child = 1; child < degree && place + child * stride < ranks; ++child)
      position.children.push_back(rank_at_place(ranks, root, place + child * stride));
  }
  return position;
}

tree fnomial_tree(int ranks, int root, int degree) {
  return tree_of_positions(ranks, root, [&](int rank) { return fnomial_position(ranks, root, degree, rank); });
}

tree_position binomial_position(int ranks, int root, int rank) { return fnomial_position(ranks, root, 2, rank); }

tree binomial_tree(int ranks, int root) { return fnomial_tree(ranks, root, 2); }

}  // namespace weft::schedules
