// SPDX-License-Identifier: Apache-2.0
// Trees whose shape depends on the number of ranks alone: a rank's place in them is known by arithmetic.
#pragma once

#include <weft/schedules/tree.hpp>

namespace weft::schedules {

// In all of them ranks are counted from the root on, around, and each subtree is a row of consecutive ranks, so that
// the operands of root 0 are combined in the order of the ranks. All throw std::invalid_argument for a bad rank, root
// or degree.

/// The f-nomial tree of Moody et al. 2003 (section 5.2 and appendix A), f = `degree`, at least 2: in phase k a rank
/// whose last k digits to the base f are 0 receives from the f - 1 ranks that differ from it in digit k alone, as far
/// as there are such. ceil(log_f ranks) phases, (f - 1) ceil(log_f ranks) children at most.
///
///     0                10 ranks, degree 3: phase 0 joins 0 1 2, 3 4 5, 6 7 8 and 9; phase 1 joins 0 3 6;
///     |-- 1            phase 2 joins 0 9
///     |-- 2
///     |-- 3
///     |   |-- 4
///     |   `-- 5
///     |-- 6
///     |   |-- 7
///     |   `-- 8
///     `-- 9
tree fnomial_tree(int ranks, int root, int degree);
tree_position fnomial_position(int ranks, int root, int degree, int rank);

/// The binomial tree, which is the 2-nomial one: a binomial tree of order k is one of order k - 1 that receives from
/// another (Canon and Antoniu 2012, Definition 12). With 2^k ranks, a transfer that takes d and a combine that takes c,
/// a reduction takes k (d + c) (Proposition 13); at most ceil(log2 ranks) (d + c) with any number.
///
///     0              8 ranks
///     |-- 1
///     |-- 2
///     |   `-- 3
///     `-- 4
///         |-- 5
///         `-- 6
///             `-- 7
tree binomial_tree(int ranks, int root);
tree_position binomial_position(int ranks, int root, int rank);

/// The chain, a tree of degree one: for vectors that travel in many segments. ranks - 1 hops.
///
///     0 <- 1 <- 2 <- 3
tree chain_tree(int ranks, int root);
tree_position chain_position(int ranks, int root, int rank);

}  // namespace weft::schedules
