// SPDX-License-Identifier: Apache-2.0
// The cost formulas of the table of algorithms.
#pragma once

#include <algorithm>
#include <cmath>
#include <weft/schedules/algorithms.hpp>

namespace weft::schedules {

inline double rounds(double members) { return members <= 1 ? 0 : std::ceil(std::log2(members)); }
inline double p(const algorithm_arguments& of) { return of.ranks; }
inline double share(const algorithm_arguments& of) { return (p(of) - 1) / p(of); }
inline double groups(const algorithm_arguments& of) {
  return of.groups.empty() ? 1 : static_cast<double>(of.groups.size());
}
/// Of the largest group.
inline double group_size(const algorithm_arguments& of) {
  std::size_t most = of.groups.empty() ? static_cast<std::size_t>(of.ranks) : 0;
  for (const auto& members : of.groups) most = std::max(most, members.size());
  return static_cast<double>(most);
}

/// The same where rows are cut into halves.
inline algorithm_arguments in_halves(algorithm_arguments of) {
  of.degree = 2;
  return of;
}

/// The same where nothing is combined.
inline path_costs copying(path_costs each) {
  each.gamma = each.near.gamma = 0;
  return each;
}

template <double (*cost)(const algorithm_arguments&, double, const path_costs&)>
double copied(const algorithm_arguments& of, double bytes, const path_costs& each) {
  return cost(of, bytes, copying(each));
}

// Seconds, as `algorithm::cost` says.
double chain_cost(const algorithm_arguments& of, double bytes, const path_costs& each);
double chain_exscan_cost(const algorithm_arguments& of, double bytes, const path_costs& each);
double binomial_cost(const algorithm_arguments& of, double bytes, const path_costs& each);
double binomial_broadcast_cost(const algorithm_arguments& of, double bytes, const path_costs& each);
double binomial_allreduce_cost(const algorithm_arguments& of, double bytes, const path_costs& each);
double greedy_cost(const algorithm_arguments& of, double bytes, const path_costs& each);
double fnomial_cost(const algorithm_arguments& of, double bytes, const path_costs& each);
double fibonacci_cost(const algorithm_arguments& of, double bytes, const path_costs& each);
double fnomial_split_cost(const algorithm_arguments& of, double bytes, const path_costs& each);
double two_tree_cost(const algorithm_arguments& of, double bytes, const path_costs& each);
double two_tree_allreduce_cost(const algorithm_arguments& of, double bytes, const path_costs& each);
/// Halves of what is left, one way: a scatter or gather over a spanning tree.
double spread_cost(const algorithm_arguments& of, double bytes, const path_costs& each);
/// The same exchanged, by recursive halving or doubling, or by other parts than halves.
double halving_cost(const algorithm_arguments& of, double bytes, const path_costs& each);
double ring_cost(const algorithm_arguments& of, double bytes, const path_costs& each);
/// The root's messages one after another.
double linear_cost(const algorithm_arguments& of, double bytes, const path_costs& each);
double pairwise_cost(const algorithm_arguments& of, double bytes, const path_costs& each);
double bruck_alltoall_cost(const algorithm_arguments& of, double bytes, const path_costs& each);
double doubling_scan_cost(const algorithm_arguments& of, double bytes, const path_costs& each);
double doubling_exscan_cost(const algorithm_arguments& of, double bytes, const path_costs& each);
/// Halvings until a rank has a segment, doublings of that, and doublings back, among a power of two; the others'
/// operands come first, and go back in the end.
double doubling_cost(const algorithm_arguments& of, double bytes, const path_costs& each);
double rounds_cost(const algorithm_arguments& of, double bytes, const path_costs& each);
double smp_binomial_cost(const algorithm_arguments& of, double bytes, const path_costs& each);
double smp_butterfly_cost(const algorithm_arguments& of, double bytes, const path_costs& each);
double far_first_cost(const algorithm_arguments& of, double bytes, const path_costs& each);
double modified_van_de_geijn_cost(const algorithm_arguments& of, double bytes, const path_costs& each);
double two_tier_cost(const algorithm_arguments& of, double bytes, const path_costs& each);
double modified_rabenseifner_cost(const algorithm_arguments& of, double bytes, const path_costs& each);
double local_bruck_cost(const algorithm_arguments& of, double bytes, const path_costs& each);
double multi_leader_reduce_cost(const algorithm_arguments& of, double bytes, const path_costs& each);
double multi_leader_allreduce_cost(const algorithm_arguments& of, double bytes, const path_costs& each);
double reading_broadcast_cost(const algorithm_arguments& of, double bytes, const path_costs& each);
double reading_reduce_scatter_cost(const algorithm_arguments& of, double bytes, const path_costs& each);
double reading_exchange_cost(const algorithm_arguments& of, double bytes, const path_costs& each);

// Of patterns of shared memory, where α is that of a round.
double one_round_cost(const algorithm_arguments& of, double bytes, const path_costs& each);
double at_once_cost(const algorithm_arguments& of, double bytes, const path_costs& each);
double served_cost(const algorithm_arguments& of, double bytes, const path_costs& each);
double served_shown_cost(const algorithm_arguments& of, double bytes, const path_costs& each);
double in_groups_cost(const algorithm_arguments& of, double bytes, const path_costs& each);
double by_shares_cost(const algorithm_arguments& of, double bytes, const path_costs& each);
double in_place_cost(const algorithm_arguments& of, double bytes, const path_costs& each);
double single_copy_cost(const algorithm_arguments& of, double bytes, const path_costs& each);
double one_reads_cost(const algorithm_arguments& of, double bytes, const path_costs& each);
double one_reads_told_cost(const algorithm_arguments& of, double bytes, const path_costs& each);
double one_reads_share_cost(const algorithm_arguments& of, double bytes, const path_costs& each);
double shared_exchange_cost(const algorithm_arguments& of, double bytes, const path_costs& each);
double in_parts_cost(const algorithm_arguments& of, double bytes, const path_costs& each);
double told_exchange_cost(const algorithm_arguments& of, double bytes, const path_costs& each);
double pipelined_cost(const algorithm_arguments& of, double bytes, const path_costs& each);

/// Of a collective in stages: on a node, between the nodes, on a node.
double staged_cost(collective what, const algorithm_arguments& of, double bytes, const path_costs& each);

}  // namespace weft::schedules
