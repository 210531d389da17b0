// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>
#include <string>
#include <weft/schedules/reduction_tree.hpp>

#include "arguments.hpp"

namespace weft::schedules {

bool reorders(const algorithm_arguments& of) noexcept { return of.keep_order && of.root != 0; }

rank_ordered_tree reduction_tree(tree (*shape)(const algorithm_arguments&), const algorithm_arguments& of) {
  if (!reorders(of)) return {shape(of), of.root, {}};
  check_rank(of.ranks, of.root, "root");
  algorithm_arguments from_0 = of;
  from_0.root = 0;
  return in_rank_order(shape(from_0), of.root);
}

std::vector<rank_costs> costs_of_ranks(const algorithm_arguments& of) {
  const auto ranks = static_cast<std::size_t>(of.ranks < 0 ? 0 : of.ranks);
  if (of.each.empty()) return std::vector<rank_costs>(ranks, {0, of.transfer, of.compute});
  if (of.each.size() == ranks) return of.each;
  throw std::invalid_argument("there are costs of " + std::to_string(of.each.size()) + " ranks, and " +
                              std::to_string(of.ranks) + " ranks");
}

}  // namespace weft::schedules
