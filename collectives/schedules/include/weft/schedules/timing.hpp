// When the transfers of a reduction over a tree take place.
#pragma once

#include <vector>
#include <weft/schedules/tree.hpp>

namespace weft::schedules {

struct timed_edge {
  int from = -1;
  int to = -1;
  double start = 0;  ///< of the transfer
  double end = 0;    ///< of the transfer; the combine may begin
};

struct reduce_timing {
  double length = 0;              ///< when the root has combined the last operand
  std::vector<timed_edge> edges;  ///< by start, then by sender
};

/// When a node has combined what its children, ready to send at the times `ready` (any order), transfer to it one after
/// another: Canon and Antoniu 2012, Proposition 3, where t_i^j is the j-th smallest of these times. 0 without children.
double combined_at(std::vector<double> ready, double transfer, double compute);

/// The reduction over `of` when a transfer takes `transfer` and a combine `compute` (finite, at least 0, in any unit),
/// a receiver takes one transfer at a time, in the order in which its children are ready, and combines one operand
/// while it receives the next. O(ranks log ranks). Sums of whole numbers are exact up to 2^53.
reduce_timing timing(const tree& of, double transfer, double compute);

}  // namespace weft::schedules
