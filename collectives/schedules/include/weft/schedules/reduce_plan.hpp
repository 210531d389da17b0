// What a reduction will do and when, for people and programs to look at.
#pragma once

#include <string>
#include <string_view>
#include <vector>
#include <weft/schedules/timing.hpp>

namespace weft::schedules {

/// A reduction over a tree, timed. A value.
struct reduce_plan {
  std::string algorithm;  ///< "greedy" or "binomial"
  int ranks = 1;
  int root = 0;
  double length = 0;              ///< Canon and Antoniu 2012, Proposition 3; in the unit of the costs
  std::vector<timed_edge> edges;  ///< by start, then by sender
};

/// The plan of `algorithm` ("greedy" or "binomial") when a transfer takes `transfer` and a combine `compute`. Throws
/// std::invalid_argument for another algorithm (and says which there are), a bad rank or a bad cost.
reduce_plan plan_reduce(std::string_view algorithm, int ranks, int root, double transfer, double compute);

/// A heading, then the tree in ASCII, a line a rank, with the start and the end of its transfer.
std::string draw(const reduce_plan& plan);

/// A time as text: whole numbers without a point, others in as few digits as name them exactly.
std::string time_text(double time);

}  // namespace weft::schedules
