// SPDX-License-Identifier: Apache-2.0
// What reductions over f-nomial trees take, in the model of Moody et al. 2003, section 5: a message arrives L after it
// was sent; then its receiver takes r to receive and c to combine it, one message after another.
//
//     root of 4 ranks   |-- C --|------ L ------|- r -|-- c --|- r -|-- c --|- r -|-- c --|
#pragma once

#include <weft/schedules/tree.hpp>

namespace weft::schedules {

/// Times in any one unit, finite and at least 0.
struct reception_costs {
  double latency = 0;      ///< L: of a message, which keeps neither end busy
  double reception = 0;    ///< r: of a message
  double combination = 0;  ///< c: of one operand
  double initial = 0;      ///< C: once, on all ranks at the same time
};

// All throw std::invalid_argument for bad costs, and for fewer than one rank or a degree below 2.

/// T_serial = C + L + (P - 1) (r + c): the root receives from all others. One rank: C.
double serial_time(int ranks, const reception_costs& costs);

/// T_full = C + (L + (f - 1) (r + c)) log_f P: exact for a power of the degree, a trend for other numbers of ranks.
double full_fnomial_time(int ranks, int degree, const reception_costs& costs);

/// T = C + L ceil(log_f P) + (r + c) ((f - 1) floor(log_f P) + ceil(P / f^floor(log_f P)) - 1): the root's phases one
/// after another, the last with those children that there are.
double fnomial_time(int ranks, int degree, const reception_costs& costs);

/// The same model message by message, over any tree: a rank takes its children's messages in the tree's order, as
/// tree_reduce does, but each as soon as it is there, and sends when it has combined its last. Never later than
/// fnomial_time over the f-nomial tree, and earlier where the last phase is not full. O(ranks).
double time_by_messages(const tree& of, const reception_costs& costs);

/// The degree, from 2 to the number of ranks, of the least fnomial_time; the lowest of several. 2 for up to 2 ranks.
int best_degree(int ranks, const reception_costs& costs);

/// The degree of the least time_by_messages of f-nomial trees; the lowest of several. Makes a tree for each degree that
/// its root's own work does not rule out.
int best_degree_by_messages(int ranks, const reception_costs& costs);

/// The real degree at which T_full is least for every number of ranks: the solution of f (ln f - 1) = L / (r + c) - 1
/// (appendix B), which lies above 1. Infinite if r + c is 0.
double best_full_degree(const reception_costs& costs);

}  // namespace weft::schedules
