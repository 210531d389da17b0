// SPDX-License-Identifier: Apache-2.0
// What a reduction or a broadcast over a tree will do and when, for people and programs to look at.
#pragma once

#include <string>
#include <string_view>
#include <vector>
#include <weft/schedules/algorithms.hpp>
#include <weft/schedules/timing.hpp>

namespace weft::schedules {

/// A reduction over a tree, timed. A value.
struct timed_reduction {
  std::string algorithm;
  int ranks = 1;
  int root = 0;
  /// The root of the tree; not the root where operands are combined in the order of the ranks and it cannot head the
  /// tree: then the last edge is one more transfer, from the head to the root.
  int head = 0;
  double length = 0;              ///< in the unit of the costs
  std::vector<timed_edge> edges;  ///< by start, then by sender
};

/// The reduction `how`, which has a shape, when transfers start as soon as they can (Canon and Antoniu 2012,
/// Proposition 3), within a limit on transfers when greedy_schedule says. Throws std::invalid_argument for an algorithm
/// without a shape and a bad rank, cost, limit or degree.
timed_reduction time_reduction(const algorithm& how, const algorithm_arguments& of);

/// A heading, then the tree in ASCII, a line a rank, with the start and the end of its transfer.
std::string draw(const timed_reduction& timed);

/// A broadcast over a tree, timed. A value.
struct timed_broadcast {
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
timed_broadcast time_broadcast(std::string_view algorithm, int ranks, int root, double transfer);

/// A heading, then the tree in ASCII, a line a rank, with the start and the end of the transfer that it receives.
std::string draw(const timed_broadcast& timed);

/// A time as text: whole numbers without a point, others in as few digits as name them exactly.
std::string time_text(double time);

}  // namespace weft::schedules
