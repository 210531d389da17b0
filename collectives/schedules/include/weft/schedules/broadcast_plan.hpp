// What a broadcast over a tree will do and when, for people and programs to look at.
#pragma once

#include <string>
#include <string_view>
#include <vector>
#include <weft/schedules/timing.hpp>

namespace weft::schedules {

/// A broadcast over a tree, timed. A value.
struct broadcast_plan {
  std::string algorithm;
  int ranks = 1;
  int root = 0;
  double length = 0;              ///< in the unit of the cost
  std::vector<timed_edge> edges;  ///< from parent to child; by start, then by receiver
};

/// The trees that there are: binomial, chain.
std::vector<std::string> broadcast_trees();

/// The broadcast of one segment when a transfer takes `transfer`, a rank sends to one other at a time, to its last
/// child first, and as soon as it can. O(ranks log ranks). Throws std::invalid_argument for a tree that there is not, a
/// bad rank or cost.
broadcast_plan plan_broadcast(std::string_view algorithm, int ranks, int root, double transfer);

/// A heading, then the tree in ASCII, a line a rank, with the start and the end of the transfer that it receives.
std::string draw(const broadcast_plan& plan);

}  // namespace weft::schedules
