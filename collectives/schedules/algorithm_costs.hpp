// The cost formulas of the table of algorithms.
#pragma once

#include <cmath>
#include <weft/schedules/algorithms.hpp>

namespace weft::schedules {

inline double rounds(double members) { return members <= 1 ? 0 : std::ceil(std::log2(members)); }
inline double p(const algorithm_arguments& of) { return of.ranks; }
inline double share(const algorithm_arguments& of) { return (p(of) - 1) / p(of); }
inline double groups(const algorithm_arguments& of) {
  return of.groups.empty() ? 1 : static_cast<double>(of.groups.size());
}
inline double group_size(const algorithm_arguments& of) { return std::ceil(p(of) / groups(of)); }

/// A message of so many bytes, combined or not.
inline double sent(const link_costs& each, double bytes) { return each.alpha + each.beta * bytes; }
inline double combined(const link_costs& each, double bytes) { return sent(each, bytes) + each.gamma * bytes; }

// Seconds, as `algorithm::cost` says. Those of copies have no γ: all-gather, scatter, broadcast.
double chain_cost(const algorithm_arguments& of, double bytes, const link_costs& each);
double chain_copy_cost(const algorithm_arguments& of, double bytes, const link_costs& each);
double binomial_cost(const algorithm_arguments& of, double bytes, const link_costs& each);
double binomial_copy_cost(const algorithm_arguments& of, double bytes, const link_costs& each);
double fnomial_cost(const algorithm_arguments& of, double bytes, const link_costs& each);
double fibonacci_cost(const algorithm_arguments& of, double bytes, const link_costs& each);
double fnomial_split_cost(const algorithm_arguments& of, double bytes, const link_costs& each);
double two_tree_cost(const algorithm_arguments& of, double bytes, const link_costs& each);
double two_tree_copy_cost(const algorithm_arguments& of, double bytes, const link_costs& each);
double halving_cost(const algorithm_arguments& of, double bytes, const link_costs& each);
double doubling_copy_cost(const algorithm_arguments& of, double bytes, const link_costs& each);
double ring_cost(const algorithm_arguments& of, double bytes, const link_costs& each);
double ring_copy_cost(const algorithm_arguments& of, double bytes, const link_costs& each);
double doubling_cost(const algorithm_arguments& of, double bytes, const link_costs& each);
double rounds_cost(const algorithm_arguments& of, double bytes, const link_costs& each);
double far_first_cost(const algorithm_arguments& of, double bytes, const link_costs& each);
double modified_van_de_geijn_cost(const algorithm_arguments& of, double bytes, const link_costs& each);
double two_tier_cost(const algorithm_arguments& of, double bytes, const link_costs& each);
double modified_rabenseifner_cost(const algorithm_arguments& of, double bytes, const link_costs& each);

}  // namespace weft::schedules
