// What a reduction will do and when, for people and programs to look at.
#pragma once

#include <string>
#include <vector>
#include <weft/schedules/greedy_tree.hpp>
#include <weft/schedules/timing.hpp>

namespace weft::schedules {

/// Which reduction to plan.
struct reduce_parameters {
  std::string algorithm = "greedy";  ///< one of reduce_algorithms()
  int ranks = 1;
  int root = 0;
  double transfer = 1;   ///< what a transfer takes, in any unit
  double compute = 1;    ///< what a combine takes, in the same
  greedy_limits within;  ///< greedy only
  int degree = 2;        ///< fnomial only
};

/// A reduction over a tree, timed. A value.
struct reduce_plan {
  std::string algorithm;
  int ranks = 1;
  int root = 0;
  double length = 0;              ///< in the unit of the costs
  std::vector<timed_edge> edges;  ///< by start, then by sender
};

/// The trees that there are: greedy, binomial, fibonacci, fnomial, chain.
std::vector<std::string> reduce_algorithms();

/// The reduction when transfers start as soon as they can (Canon and Antoniu 2012, Proposition 3), within a limit on
/// transfers when greedy_schedule says. Throws std::invalid_argument for an algorithm that there is not (and says which
/// there are), a bad rank, cost, limit or degree, and for a limit or a degree that the algorithm does not take.
reduce_plan plan_reduce(const reduce_parameters& wanted);

/// A heading, then the tree in ASCII, a line a rank, with the start and the end of its transfer.
std::string draw(const reduce_plan& plan);

/// A time as text: whole numbers without a point, others in as few digits as name them exactly.
std::string time_text(double time);

}  // namespace weft::schedules
