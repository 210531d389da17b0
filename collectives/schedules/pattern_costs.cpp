// The cost formulas of patterns of shared memory.
#include "algorithm_costs.hpp"

namespace weft::schedules {
namespace {

/// So many rounds, in each of which every rank hears of all others; none where there are none.
double rounds_of_node(const algorithm_arguments& of, double count, const link_costs& each) {
  return p(of) <= 1 ? 0 : count * (each.alpha + (p(of) - 2) * each.gap);
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
  return rounds_of_node(of, 2 * pieces(of), each) + used(each, (group_size(of) + groups(of) - 2) * bytes);
}

double by_shares_cost(const algorithm_arguments& of, double bytes, const path_costs& each) {
  return rounds_of_node(of, pieces(of) + 1, each) + used(each, share(of) * bytes) + each.beta * share(of) * bytes;
}

double in_place_cost(const algorithm_arguments& of, double bytes, const path_costs& each) {
  return rounds_of_node(of, 2, each) + used(each, share(of) * bytes);
}

double single_copy_cost(const algorithm_arguments& of, double bytes, const path_costs& each) {
  return rounds_of_node(of, 3, each) + used(each, share(of) * bytes) + each.beta * share(of) * bytes;
}

double one_reads_cost(const algorithm_arguments& of, double bytes, const path_costs& each) {
  return rounds_of_node(of, pieces(of), each) + (p(of) <= 1 ? 0 : each.beta * bytes);
}

double one_reads_told_cost(const algorithm_arguments& of, double bytes, const path_costs& each) {
  return rounds_of_node(of, 2, each) + (p(of) <= 1 ? 0 : each.beta * bytes);
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
  return rounds_of_node(of, 2, each) + used(each, share(of) * bytes);
}

double served_cost(const algorithm_arguments& of, double bytes, const path_costs& each) {
  return rounds_of_node(of, 3, each) + used(each, (p(of) - 1) / groups(of) * bytes);
}

double served_shown_cost(const algorithm_arguments& of, double bytes, const path_costs& each) {
  return rounds_of_node(of, 3, each) + used(each, (p(of) - 1) * bytes);
}

double staged_cost(collective what, const algorithm_arguments& of, double bytes, const path_costs& each) {
  const auto& nodes = of.nodes.empty() ? of.groups : of.nodes;
  algorithm_arguments across, here;
  across.ranks = nodes.empty() ? 1 : static_cast<int>(nodes.size());
  here.ranks = (of.ranks + across.ranks - 1) / across.ranks;
  const path_costs far = combines(what) ? each : copying(each);
  const path_costs near(combines(what) ? each.near : copying(each).near);
  const double of_node = bytes * p(here) / p(of);
  switch (what) {
    case collective::barrier:
      return 2 * one_round_cost(here, 0, near) + rounds_cost(across, 0, far);
    case collective::broadcast:
      return 2 * one_reads_cost(here, bytes, near) + binomial_cost(across, bytes, far);
    case collective::reduce:
      return at_once_cost(here, bytes, near) + binomial_cost(across, bytes, far) + one_reads_cost(here, bytes, near);
    case collective::allreduce:
      return at_once_cost(here, bytes, near) + doubling_cost(across, bytes, far) + one_reads_cost(here, bytes, near);
    case collective::allgather:
      return shared_exchange_cost(here, of_node, near) + bruck_allgather_cost(across, bytes, far) +
             one_reads_cost(here, bytes, near);
    case collective::reduce_scatter:
      return at_once_cost(here, bytes, near) + binomial_cost(across, bytes, far) +
             spread_cost(across, bytes, copying(far)) + one_reads_share_cost(here, of_node, near);
    case collective::scan:
    case collective::exscan:
      return 2 * at_once_cost(here, bytes, near) + doubling_scan_cost(across, bytes, far);
    case collective::alltoall:
      return 2 * one_reads_cost(here, p(here) * bytes, near) + pairwise_cost(across, p(here) * bytes, far);
    default:
      return 0;
  }
}

}  // namespace weft::schedules
