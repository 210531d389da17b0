// SPDX-License-Identifier: Apache-2.0
// The cost formulas of patterns of shared memory.
#include <algorithm>
#include <limits>
#include <weft/schedules/selection.hpp>

#include "algorithm_costs.hpp"

namespace weft::schedules {
namespace {

/// A round in which each of so many hears of all others; none where there are none.
double round_of(double members, const link_costs& each) {
  return members <= 1 ? 0 : each.alpha + (members - 2) * each.gap;
}

double rounds_of_node(const algorithm_arguments& of, double count, const link_costs& each) {
  return count * round_of(p(of), each);
}

double pieces(const algorithm_arguments& of) { return of.by.segments; }

/// Elements that this rank uses of the others', of which it combines each.
double used(const link_costs& each, double bytes) { return (each.beta + each.gamma) * bytes; }

}  // namespace

double one_round_cost(const algorithm_arguments& of, double, const path_costs& each) {
  return rounds_of_node(of, 1, each);
}

double at_once_cost(const algorithm_arguments& of, double bytes, const path_costs& each) {
  return rounds_of_node(of, pieces(of), each) + used(each, (p(of) - 1) * bytes);
}

double in_groups_cost(const algorithm_arguments& of, double bytes, const path_costs& each) {
  return pieces(of) * (round_of(group_size(of), each) + round_of(groups(of), each)) +
         used(each, (group_size(of) + groups(of) - 2) * bytes);
}

/// A member's own share of the result goes through its slot, too, which takes about as long as to combine it.
double by_shares_cost(const algorithm_arguments& of, double bytes, const path_costs& each) {
  return rounds_of_node(of, pieces(of) + 1, each) + 2 * each.beta * share(of) * bytes +
         (p(of) <= 1 ? 0 : each.gamma * bytes);
}

double in_place_cost(const algorithm_arguments& of, double bytes, const path_costs& each) {
  return rounds_of_node(of, 2, each) + used(each, share(of) * bytes);
}

double single_copy_cost(const algorithm_arguments& of, double bytes, const path_costs& each) {
  return rounds_of_node(of, 3, each) + 2 * (p(of) - 1) * each.call + used(each, share(of) * bytes) +
         each.beta * share(of) * bytes;
}

double one_reads_cost(const algorithm_arguments& of, double bytes, const path_costs& each) {
  return rounds_of_node(of, pieces(of), each) + (p(of) <= 1 ? 0 : each.beta * bytes);
}

double one_reads_told_cost(const algorithm_arguments& of, double bytes, const path_costs& each) {
  return rounds_of_node(of, 2, each) + (p(of) <= 1 ? 0 : each.call + each.beta * bytes);
}

double one_reads_share_cost(const algorithm_arguments& of, double bytes, const path_costs& each) {
  return one_reads_told_cost(of, bytes / p(of), each);
}

double shared_exchange_cost(const algorithm_arguments& of, double bytes, const path_costs& each) {
  return rounds_of_node(of, 1, each) + used(each, share(of) * bytes);
}

double in_parts_cost(const algorithm_arguments& of, double bytes, const path_costs& each) {
  return rounds_of_node(of, pieces(of), each) + used(each, share(of) * bytes);
}

double told_exchange_cost(const algorithm_arguments& of, double bytes, const path_costs& each) {
  return rounds_of_node(of, 2, each) + (p(of) - 1) * each.call + used(each, share(of) * bytes);
}

/// A processor copies, and combines then, what it takes of the one before it.
double pipelined_cost(const algorithm_arguments& of, double bytes, const path_costs& each) {
  if (of.ranks == 1) return 0;
  const double part = used(each, bytes / pieces(of));
  return (p(of) - 1) * (each.alpha + part) + (pieces(of) - 1) * (each.gap + part);
}

double served_cost(const algorithm_arguments& of, double bytes, const path_costs& each) {
  return rounds_of_node(of, groups(of) == p(of) ? 2 : 4, each) + used(each, (p(of) - 1) / groups(of) * bytes);
}

double served_shown_cost(const algorithm_arguments& of, double bytes, const path_costs& each) {
  return rounds_of_node(of, groups(of) == p(of) ? 1 : 3, each) + used(each, (p(of) - 1) * bytes);
}

namespace {

/// What the fastest algorithm by messages takes.
double fastest_between(collective what, const algorithm_arguments& of, double bytes, const path_costs& each) {
  double least = std::numeric_limits<double>::infinity();
  for (const algorithm& how : algorithms_of(what)) {
    if (how.pattern != memory_pattern::none || (how.parameters & (takes::nodes | takes::groups)) != 0) continue;
    constexpr std::size_t segment = selection_parameters().segment;
    least = std::min(least, predict(how, of, static_cast<std::size_t>(bytes), each, segment).seconds);
  }
  return least;
}

/// Whether the root is the first rank of its node.
bool root_speaks(const algorithm_arguments& of, const std::vector<std::vector<int>>& nodes) {
  if (nodes.empty()) return of.root == 0;
  return std::ranges::any_of(nodes, [&](const auto& one) { return one.front() == of.root; });
}

/// Stages before and behind that between the nodes.
struct stages {
  double before = 0, between = 0, behind = 0;
};

stages stages_of(collective what, const algorithm_arguments& here, double bytes, double of_node,
                 const path_costs& near) {
  const auto reduced = [&] { return std::min(at_once_cost(here, bytes, near), by_shares_cost(here, bytes, near)); };
  const double read = one_reads_cost(here, bytes, near);
  switch (what) {
    case collective::barrier:
      return {one_round_cost(here, 0, near), 0, one_round_cost(here, 0, near)};
    case collective::broadcast:
      return {read, 0, read};
    case collective::reduce:
    case collective::allreduce:
      return {reduced(), 0, read};
    case collective::allgather:
      return {shared_exchange_cost(here, of_node, near), 0, read};
    case collective::reduce_scatter:
      return {reduced(), 0, one_reads_share_cost(here, of_node, near)};
    case collective::scan:
    case collective::exscan:
      return {reduced(), 0, at_once_cost(here, bytes, near)};
    default: {  // an all-to-all
      const double all = one_reads_cost(here, p(here) * bytes, near);
      return {all, 0, all};
    }
  }
}

}  // namespace

double staged_cost(collective what, const algorithm_arguments& of, double bytes, const path_costs& each) {
  const auto& nodes = of.nodes.empty() ? of.groups : of.nodes;
  algorithm_arguments across, here;
  across.ranks = nodes.empty() ? 1 : static_cast<int>(nodes.size());
  here.ranks = (of.ranks + across.ranks - 1) / across.ranks;
  const path_costs far = combines(what) ? each : copying(each);
  const double pieces = of.by.segments, some = bytes / pieces;
  stages all = stages_of(what, here, some, some * p(here) / p(of), path_costs(far.near));
  if (what == collective::broadcast && root_speaks(of, nodes)) all.before = 0;
  const collective among = what == collective::scan ? collective::exscan : what;
  if (across.ranks > 1)
    all.between = fastest_between(among, across, what == collective::alltoall ? p(here) * some : some, far);
  return all.before + all.between + all.behind + (pieces - 1) * std::max(all.between, all.before + all.behind);
}

}  // namespace weft::schedules
