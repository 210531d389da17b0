#include "algorithm_costs.hpp"

#include <algorithm>
#include <utility>
#include <weft/schedules/fnomial_model.hpp>

namespace weft::schedules {
namespace {

using arguments = algorithm_arguments;

/// A pipeline of so many stages, whose stages take `stage` each for a segment.
template <class Stage>
double pipelined(const arguments& of, double stages, double bytes, Stage&& stage) {
  if (stages <= 0) return 0;
  return (stages + of.by.segments - 1) * stage(bytes / of.by.segments);
}

/// Whether a cluster has ranks to share with.
double shared(const arguments& of) { return group_size(of) <= 1 ? 0 : 1; }
double connected(const arguments& of) {
  double least = p(of);
  for (const auto& members : of.groups) least = std::min(least, static_cast<double>(members.size()));
  return std::min<double>(of.connections, least);
}

}  // namespace

double chain_cost(const arguments& of, double bytes, const link_costs& each) {
  return pipelined(of, p(of) - 1, bytes, [&](double part) { return combined(each, part); });
}
double chain_copy_cost(const arguments& of, double bytes, const link_costs& each) {
  return pipelined(of, p(of) - 1, bytes, [&](double part) { return sent(each, part); });
}
/// A binomial tree's root serves log2 p children a segment, the first segment climbs log2 p edges.
double binomial_cost(const arguments& of, double bytes, const link_costs& each) {
  return rounds(p(of)) * of.by.segments * combined(each, bytes / of.by.segments);
}
double binomial_copy_cost(const arguments& of, double bytes, const link_costs& each) {
  return rounds(p(of)) * of.by.segments * sent(each, bytes / of.by.segments);
}
/// An f-nomial tree's root serves its children one after another.
double fnomial_cost(const arguments& of, double bytes, const link_costs& each) {
  return of.by.segments * fnomial_time(of.ranks, of.degree,
                                       {0, sent(each, bytes / of.by.segments), each.gamma * bytes / of.by.segments, 0});
}
double fibonacci_cost(const arguments& of, double bytes, const link_costs& each) {
  if (of.ranks == 1) return 0;
  int order = 1;
  for (long long fewer = 1, members = 2; members < of.ranks; ++order) fewer = std::exchange(members, members + fewer);
  const double transfer = sent(each, bytes / of.by.segments), combine = each.gamma * bytes / of.by.segments;
  return of.by.segments * (transfer + (order - 1) * std::max(transfer, combine) + combine);
}
double fnomial_split_cost(const arguments& of, double bytes, const link_costs& each) {
  double cost = 0;
  arguments group = of;
  for (int i = 0; i < of.splits; ++i) {
    bytes /= 2;
    group.ranks = (group.ranks + 1) / 2;
    cost += of.by.segments * combined(each, bytes / of.by.segments);
  }
  const double others = std::exp2(of.splits) - 1;
  return cost + fnomial_cost(group, bytes, each) + others * of.by.segments * sent(each, bytes / of.by.segments);
}
double two_tree_cost(const arguments& of, double bytes, const link_costs& each) {
  if (of.ranks == 1) return 0;
  const double segments = 2.0 * of.by.segments;
  return (2 * rounds(p(of)) + segments) * combined(each, bytes / segments);
}
double two_tree_copy_cost(const arguments& of, double bytes, const link_costs& each) {
  return two_tree_cost(of, bytes, {each.alpha, each.beta, 0});
}
double halving_cost(const arguments& of, double bytes, const link_costs& each) {
  return rounds(p(of)) * each.alpha + share(of) * bytes * (each.beta + each.gamma);
}
double doubling_copy_cost(const arguments& of, double bytes, const link_costs& each) {
  return halving_cost(of, bytes, {each.alpha, each.beta, 0});
}
double ring_cost(const arguments& of, double bytes, const link_costs& each) {
  return (p(of) - 1) * combined(each, bytes / p(of));
}
double ring_copy_cost(const arguments& of, double bytes, const link_costs& each) {
  return (p(of) - 1) * sent(each, bytes / p(of));
}
double doubling_cost(const arguments& of, double bytes, const link_costs& each) {
  return rounds(p(of)) * combined(each, bytes);
}
double rounds_cost(const arguments& of, double, const link_costs& each) { return rounds(p(of)) * each.alpha; }

// Matsuda's model: within a cluster start-ups do not count.
double far_first_cost(const arguments& of, double bytes, const link_costs& each) {
  return rounds(groups(of)) * sent(each, bytes) + 2 * shared(of) * each.beta * bytes;
}
double modified_van_de_geijn_cost(const arguments& of, double bytes, const link_costs& each) {
  return rounds(groups(of)) * sent(each, bytes / connected(of)) + 2 * shared(of) * each.beta * bytes;
}
double two_tier_cost(const arguments& of, double bytes, const link_costs& each) {
  return rounds(groups(of)) * combined(each, bytes) + shared(of) * (4 * each.beta + each.gamma) * bytes;
}
double modified_rabenseifner_cost(const arguments& of, double bytes, const link_costs& each) {
  return rounds(groups(of)) * combined(each, bytes / connected(of)) + shared(of) * (2 * each.beta + each.gamma) * bytes;
}

}  // namespace weft::schedules
