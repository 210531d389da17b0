// SPDX-License-Identifier: Apache-2.0
// When the transfers of a reduction over a tree take place, in the model of Canon and Antoniu 2012 (section 3): a rank
// takes part in one transfer at a time, receives its children's operands in the order in which they are ready, and
// combines one while it receives the next.
//
//     port       |-- d --|-- d --|-- d --|                      three operands that are ready at once,
//     processor          |---- c ----|---- c ----|---- c ----|  d < c: all combined at d + 3 c
#pragma once

#include <span>
#include <vector>
#include <weft/schedules/tree.hpp>

namespace weft::schedules {

struct timed_edge {
  int from = -1;
  int to = -1;
  double start = 0;  ///< of the transfer
  double end = 0;    ///< of the transfer; the combine may begin
  friend bool operator==(const timed_edge&, const timed_edge&) = default;
};

struct reduce_timing {
  double length = 0;              ///< when the root has combined the last operand
  std::vector<timed_edge> edges;  ///< by start, then by sender
};

/// The reduction over `of` when a transfer takes `transfer` and a combine `compute` (finite, at least 0, in any unit):
/// each transfer as soon as Canon and Antoniu's Proposition 3 allows. O(ranks log ranks). Sums of whole numbers are
/// exact up to 2^53. Throws std::invalid_argument for bad costs.
reduce_timing timing(const tree& of, double transfer, double compute);

/// What a reduction costs one rank, all finite and at least 0 in any one unit.
struct rank_costs {
  double arrival = 0;   ///< when its own operand is there
  double transfer = 1;  ///< by its own port: a transfer takes as long as the slower of its two ends needs
  double compute = 1;   ///< to combine one operand
};

/// The same when each rank has its own data at its own time, and costs of its own: the perspectives of the paper's
/// section 8. Throws std::invalid_argument for bad costs and unless there is one for each rank.
reduce_timing timing(const tree& of, std::span<const rank_costs> ranks);

}  // namespace weft::schedules
