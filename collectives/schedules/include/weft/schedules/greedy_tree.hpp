// SPDX-License-Identifier: Apache-2.0
// The trees in which a reduction ends soonest.
#pragma once

#include <weft/schedules/timing.hpp>
#include <weft/schedules/tree.hpp>

namespace weft::schedules {

/// What a greedy tree must get along with. 0: no limit.
struct greedy_limits {
  int transfers = 0;  ///< at most so many at a time in the whole job, where a network is shared
  int reducers = 0;   ///< at most so many ranks combine; the others only send
};

/// The tree in which a reduction ends soonest when a transfer takes `transfer` and a combine takes `compute`, both
/// finite and at least 0 in any unit, and the two overlap: Canon and Antoniu 2012, Algorithm 1, within limits
/// Algorithms 2 and 3. Time runs backwards: rank after rank hangs itself below the one that is free to receive first.
/// O(ranks log ranks), linear in memory. Among equally good receivers it takes the one that has waited longest, so the
/// tree is a function of the arguments alone. Numbered so that each subtree is a row of consecutive ranks, counted from
/// the root on, around. Sums of whole numbers are exact up to 2^53. Throws std::invalid_argument for a bad root, cost
/// or limit.
///
/// A reduction takes at least ceil(log2 ranks) max(transfer, compute) (Lemma 5) and at most ceil(log2 ranks)
/// (transfer + compute) (Proposition 6); with a limit of K <= ranks / 2, at most (floor(log2 K) + 1 +
/// ceil((ranks - 2^(floor(log2 K) + 1)) / K)) (transfer + compute) (Proposition 8 and Corollary 11, corrected for K
/// that are no power of two).
///
/// Where an operand comes `latency` after its transfer has left both ports, a rank may receive the next one meanwhile:
/// without computing this is the optimal broadcast of Karp, Sahay, Santos and Schauser 1993, backwards, with L + 2 o =
/// transfer + latency and g = transfer. A transfer counts for a limit until the operand is there.
///
///     0              8 ranks, transfer = compute: it ends after 5 of them (the binomial tree after 6)
///     |-- 1
///     |-- 2
///     |-- 3
///     |   `-- 4
///     `-- 5
///         |-- 6
///         `-- 7
tree greedy_tree(int ranks, int root, double transfer, double compute, const greedy_limits& within = {},
                 double latency = 0);

struct timed_tree {
  tree of;
  reduce_timing times;
};

/// The same tree and when its transfers take place: as early as they can (Proposition 3), but within a limit on
/// transfers at the times of Algorithm 2.
timed_tree greedy_schedule(int ranks, int root, double transfer, double compute, const greedy_limits& within = {});

/// How long a reduction over the greedy tree takes, without limits, in the unit of the costs: the least t for which
/// N(t) >= ranks, where N(t) = N(t - max(transfer, compute)) + N(t - transfer - latency - compute) is the most ranks
/// that can be reduced in t: the root's last child ends a transfer and a combine before, what it has received until
/// then leaves its port and its processor free. Takes O(log^2 ranks), O(ranks) where latency is far
/// longer than the others. Throws std::invalid_argument for bad arguments.
double greedy_length(int ranks, double transfer, double compute, double latency = 0);

/// The greedy tree for equal costs (Canon and Antoniu 2012, section 7.3). With F(k+2) ranks, a Fibonacci number, it is
/// the Fibonacci tree of order k, one of order k - 1 that receives from one of order k - 2 (Definition 15), and a
/// reduction takes transfer + (k - 1) max(transfer, compute) + compute (Proposition 16). Never longer than twice the
/// shortest (Theorem 19). (The strategy that the paper calls binomial is greedy_tree(ranks, root, 1, 0).)
tree fibonacci_tree(int ranks, int root);

}  // namespace weft::schedules
