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

}  // namespace weft::schedules
