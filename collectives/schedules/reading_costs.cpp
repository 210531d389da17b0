// SPDX-License-Identifier: Apache-2.0
// The cost formulas of algorithms whose ranks read each other's memory.
#include <algorithm>

#include "algorithm_costs.hpp"

namespace weft::schedules {
namespace {

/// Nodes of a job, and what it costs to read in one.
struct reading_nodes {
  reading_nodes(const algorithm_arguments& of, const path_costs& each)
      : count(static_cast<double>(std::max<std::size_t>(nodes(of).size(), 1))),
        most(std::ceil(p(of) / count)),
        least(most),
        within(count == 1 ? static_cast<const link_costs&>(each) : each.near) {
    for (const auto& members : nodes(of)) {
      most = std::max(most, static_cast<double>(members.size()));
      least = std::min(least, static_cast<double>(members.size()));
    }
  }

  /// To tell every other rank of a node something, and to be told.
  double offers(double times) const { return most <= 1 ? 0 : times * (within.alpha + 2 * (most - 2) * within.gap); }
  /// One rank tells the others something, which answer.
  double offers_of_one() const { return most <= 1 ? 0 : 2 * within.alpha + (most - 2) * within.gap; }
  /// So many bytes of so many ranks. Behind each read a second call of the kernel finds whether the offer still holds.
  double read(double ranks, double bytes) const {
    return most <= 1 ? 0 : 2 * ranks * within.call + within.read * bytes;
  }

  double count, most, least;
  link_costs within;

 private:
  static const std::vector<std::vector<int>>& nodes(const algorithm_arguments& of) {
    return of.nodes.empty() ? of.groups : of.nodes;
  }
};

/// The same job, of one rank a node.
algorithm_arguments between(const algorithm_arguments& of, const reading_nodes& nodes) {
  algorithm_arguments leaders = in_halves(of);
  leaders.ranks = static_cast<int>(nodes.count);
  leaders.groups.clear();
  leaders.nodes.clear();
  return leaders;
}

/// To combine a share of the inputs of a node.
double combined_within(const reading_nodes& nodes, double bytes) {
  const double operands = (nodes.most - 1) * bytes / nodes.least;
  return nodes.offers(1) + nodes.read(nodes.most - 1, operands) + nodes.within.gamma * operands;
}

}  // namespace

double multi_leader_reduce_cost(const algorithm_arguments& of, double bytes, const path_costs& each) {
  const reading_nodes nodes(of, each);
  const double share = bytes / nodes.least;
  return combined_within(nodes, bytes) + binomial_cost(between(of, nodes), share, each) + nodes.offers(2) +
         nodes.read(nodes.least - 1, bytes - share);
}

double multi_leader_allreduce_cost(const algorithm_arguments& of, double bytes, const path_costs& each) {
  const reading_nodes nodes(of, each);
  const algorithm_arguments leaders = between(of, nodes);
  const double share = bytes / nodes.least, pieces = of.by.segments - 1;
  return combined_within(nodes, bytes) + halving_cost(leaders, share, each) +
         halving_cost(leaders, share, copying(each)) + nodes.offers(2) +
         (nodes.most <= 1 ? 0 : pieces * (nodes.most - 1) * nodes.within.gap) +
         nodes.read(nodes.least - 1, bytes - share);
}

double reading_broadcast_cost(const algorithm_arguments& of, double bytes, const path_costs& each) {
  const reading_nodes nodes(of, each);
  const double part = bytes / of.by.segments;
  return binomial_broadcast_cost(between(of, nodes), bytes, each) + nodes.offers_of_one() +
         nodes.read(1, nodes.count == 1 ? bytes : part);
}

double reading_reduce_scatter_cost(const algorithm_arguments& of, double bytes, const path_costs& each) {
  const reading_nodes nodes(of, each);
  const double chunk = bytes / p(of), others = nodes.count - 1;
  const double operands = (1 + others * std::ceil(nodes.most / nodes.least)) * (nodes.most - 1) * chunk;
  return nodes.offers(2) + nodes.read(nodes.most - 1, operands) + nodes.within.gamma * operands +
         others * (each.alpha + (each.beta + each.gamma) * chunk);
}

double reading_exchange_cost(const algorithm_arguments& of, double bytes, const path_costs& each) {
  const reading_nodes nodes(of, each);
  const double chunk = bytes / p(of), others = p(of) - nodes.least;
  return nodes.offers(2) + nodes.read(nodes.most - 1, (nodes.most - 1) * chunk) +
         others * (each.alpha + each.exchange * chunk);
}

}  // namespace weft::schedules
