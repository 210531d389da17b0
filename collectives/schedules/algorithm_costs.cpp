// SPDX-License-Identifier: Apache-2.0
#include "algorithm_costs.hpp"

#include <algorithm>
#include <weft/schedules/greedy_tree.hpp>
#include <weft/schedules/prediction.hpp>
#include <weft/schedules/regular_trees.hpp>

#include "reduction_run.hpp"

namespace weft::schedules {
namespace {

using arguments = algorithm_arguments;

/// What a long message takes beside α, or the gap, and β.
double handshake(const link_costs& each, double bytes) {
  return (bytes > each.eager ? each.handshake : 0) + each.far * std::max(0.0, bytes - link_costs::cached);
}
/// That a port is busy with one of several messages that follow one another; with two that cross.
double port(const link_costs& each, double bytes) {
  return handshake(each, bytes) + std::max(each.gap, each.beta * bytes);
}
double crossing(const link_costs& each, double bytes) {
  return handshake(each, bytes) + std::max(each.gap, each.exchange * bytes);
}
/// That a processor is busy with one end of a message that is combined there.
double work(const link_costs& each, double bytes) { return each.overhead + each.gamma * bytes; }
/// A message of so many bytes, and one right behind another.
double sent(const link_costs& each, double bytes) { return each.alpha + handshake(each, bytes) + each.beta * bytes; }
double sent_behind(const link_costs& each, double bytes) { return std::max(port(each, bytes), each.overhead); }
double combined(const link_costs& each, double bytes) { return sent(each, bytes) + each.gamma * bytes; }
double combined_behind(const link_costs& each, double bytes) { return std::max(port(each, bytes), work(each, bytes)); }
/// Two messages that cross, each combined.
double exchanged(const link_costs& each, double bytes) {
  return each.alpha + handshake(each, bytes) + (each.exchange + each.gamma) * bytes;
}
double exchanged_behind(const link_costs& each, double bytes) {
  return std::max(crossing(each, bytes), each.overhead + work(each, bytes));
}

/// A reduction, or a broadcast backwards: a segment over the tree, and what each further one adds to the busiest rank.
struct tree_times {
  double first = 0, port = 0, processor = 0;
  double whole(double segments) const { return first + (segments - 1) * std::max(port, processor); }
};

/// As the simulator's machine takes for a reduction over `over` of segments of so many bytes.
tree_times times_over(const tree& over, double bytes, const link_costs& each) {
  const double transfer = port(each, bytes), compute = work(each, bytes);
  const double latency = std::max(0.0, sent(each, bytes) - transfer - each.overhead);
  tree_times found;
  found.first = run_reduction(
      over, even_costs{transfer, compute, latency}, [](const timed_edge&) {}, reception_order::as_listed);
  for (int rank = 0; rank < over.ranks(); ++rank) {
    const auto children = static_cast<double>(over.children(rank).size());
    found.port = std::max({found.port, children * transfer, rank == over.root() ? 0 : transfer});
    found.processor = std::max(found.processor, children * compute + (rank == over.root() ? 0 : each.overhead));
  }
  return found;
}
double over_tree(const tree& over, double segments, double bytes, const link_costs& each) {
  return times_over(over, bytes / segments, each).whole(segments);
}

double connected(const arguments& of) {
  double least = p(of);
  for (const auto& members : of.groups) least = std::min(least, static_cast<double>(members.size()));
  return std::min<double>(of.connections, least);
}

/// log2 p messages, the first of half of the vector, each half as long as the one before. Where an odd number of ranks
/// parts, one of them gets `more` from the rank that has no partner.
template <class Message, class More>
double by_halves(double members, double bytes, Message&& message, More&& more) {
  double cost = 0;
  for (double left = members; left > 1; left = std::ceil(left / 2)) {
    const double half = bytes * std::floor(left / 2) / members;
    cost += message(half);
    if (std::fmod(left, 2) == 1) cost += more(half);
  }
  return cost;
}

}  // namespace

double chain_cost(const arguments& of, double bytes, const path_costs& each) {
  return over_tree(chain_tree(of.ranks, 0), of.by.segments, bytes, each);
}
/// The last rank combines nothing; those before it copy what comes, too.
double chain_exscan_cost(const arguments& of, double bytes, const path_costs& each) {
  if (of.ranks == 1) return 0;
  const double part = bytes / of.by.segments;
  if (of.ranks == 2) return over_tree(chain_tree(2, 0), of.by.segments, bytes, copying(each));
  tree_times times = times_over(chain_tree(of.ranks, 0), part, each);
  times.first -= each.gamma * part;
  times.processor += each.gamma * part;
  return times.whole(of.by.segments);
}
double binomial_cost(const arguments& of, double bytes, const path_costs& each) {
  return over_tree(binomial_tree(of.ranks, 0), of.by.segments, bytes, each);
}
double greedy_cost(const arguments& of, double bytes, const path_costs& each) {
  const auto [transfer, compute, latency] = operand_costs_of(bytes / of.by.segments, each);
  return over_tree(greedy_tree(of.ranks, 0, transfer, compute, {}, latency), of.by.segments, bytes, each);
}
double fnomial_cost(const arguments& of, double bytes, const path_costs& each) {
  return over_tree(fnomial_tree(of.ranks, 0, of.degree), of.by.segments, bytes, each);
}
double fibonacci_cost(const arguments& of, double bytes, const path_costs& each) {
  return over_tree(fibonacci_tree(of.ranks, 0), of.by.segments, bytes, each);
}
/// Down again what has come up, segment by segment: while one climbs others are on their way down.
double binomial_allreduce_cost(const arguments& of, double bytes, const path_costs& each) {
  const tree over = binomial_tree(of.ranks, 0);
  const double segments = of.by.segments;
  const tree_times up = times_over(over, bytes / segments, each),
                   down = times_over(over, bytes / segments, copying(each));
  return tree_times{up.first + down.first, std::max(up.port, down.port), up.processor + down.processor}.whole(segments);
}
double fnomial_split_cost(const arguments& of, double bytes, const path_costs& each) {
  double cost = 0;
  arguments group = of;
  for (int i = 0; i < of.splits; ++i) {
    bytes /= 2;
    group.ranks = (group.ranks + 1) / 2;
    const double part = bytes / of.by.segments;
    cost += exchanged(each, part) + (of.by.segments - 1) * exchanged_behind(each, part);
  }
  const double others = std::exp2(of.splits) - 1, part = bytes / of.by.segments;
  cost += fnomial_cost(group, bytes, each);
  return others == 0 ? cost : cost + sent(each, part) + (others * of.by.segments - 1) * sent_behind(each, part);
}
/// A rank has up to two children in one of the trees, and none in the other.
double two_tree_cost(const arguments& of, double bytes, const path_costs& each) {
  if (of.ranks == 1) return 0;
  const double segments = 2.0 * of.by.segments, part = bytes / segments;
  const double behind = combined_behind(each, part);
  if (of.ranks == 2) return combined(each, part) + (segments - 1) * behind;
  const double depth = std::floor(std::log2(p(of)));
  return (depth + 1) * combined(each, part) + depth * behind + (segments - 1) * exchanged_behind(each, part);
}
operand_costs operand_costs_of(double bytes, const path_costs& each) {
  constexpr double finest = 1000;  // whole numbers, whose sums are exact
  const double transfer = port(each, bytes), compute = work(each, bytes);
  const double latency = std::max(0.0, sent(each, bytes) - transfer - each.overhead),
               most = std::max({transfer, compute, latency});
  if (most == 0) return {};
  const auto part = [&](double of) { return std::round(finest * of / most); };
  return {part(transfer), part(compute), part(latency)};
}
/// Of ranks that hold a block each: one of them sends another one the blocks of half of them, then both go on alike.
double spread(int members, double block, const link_costs& each) {
  if (members <= 1) return 0;
  const int sent_on = members / 2;
  const double half = block * sent_on;
  return std::max(sent(each, half) + spread(sent_on, block, each),
                  (members > 2 ? sent_behind(each, half) : 0) + spread(members - sent_on, block, each));
}
double spread_cost(const arguments& of, double bytes, const path_costs& each) {
  return spread(of.ranks, bytes / p(of), each);
}
double halving_cost(const arguments& of, double bytes, const path_costs& each) {
  const double segments = of.by.segments;
  return by_halves(
      p(of), bytes,
      [&](double half) {
        return exchanged(each, half / segments) + (segments - 1) * exchanged_behind(each, half / segments);
      },
      [&](double half) { return (each.exchange + each.gamma) * half; });
}
double bruck_allgather_cost(const arguments& of, double bytes, const path_costs& each) {
  return by_halves(
      p(of), bytes, [&](double half) { return exchanged(each, half); }, [](double) { return 0.0; });
}
/// Either one segment on its way, behind which the last follow, or all of a rank's messages.
double ring_cost(const arguments& of, double bytes, const path_costs& each) {
  if (of.ranks == 1) return 0;
  const double steps = p(of) - 1, segments = of.by.segments, part = bytes / p(of) / segments;
  const double first = exchanged(each, part), next = exchanged_behind(each, part);
  return std::max(steps * first + (segments - 1) * next, first + (steps * segments - 1) * next);
}
double linear_cost(const arguments& of, double bytes, const path_costs& each) {
  if (of.ranks == 1) return 0;
  const double part = bytes / p(of);
  return sent(each, part) + (p(of) - 2) * sent_behind(each, part);
}
double pairwise_cost(const arguments& of, double bytes, const path_costs& each) {
  if (of.ranks == 1) return 0;
  const double part = bytes / p(of);
  return exchanged(each, part) + (p(of) - 2) * exchanged_behind(each, part);
}
double bruck_alltoall_cost(const arguments& of, double bytes, const path_costs& each) {
  const double r = std::min(of.degree, std::max(of.ranks, 2));
  const double digits = of.ranks <= 1 ? 0 : std::ceil(std::log2(p(of)) / std::log2(r) - 1e-9);
  return digits * (exchanged(each, bytes / r) + (r - 2) * exchanged_behind(each, bytes / r));
}
double doubling_scan_cost(const arguments& of, double bytes, const path_costs& each) {
  return rounds(p(of)) * exchanged(each, bytes);
}
double doubling_cost(const arguments& of, double bytes, const path_costs& each) {
  const double full = std::floor(std::log2(p(of)));
  const bool folds = p(of) > std::exp2(full);
  return full * exchanged(each, bytes) + (folds ? combined(each, bytes) + sent(each, bytes) : 0);
}
double rounds_cost(const arguments& of, double, const path_costs& each) { return rounds(p(of)) * each.alpha; }

double smp_binomial_cost(const arguments& of, double bytes, const path_costs& each) {
  arguments leaders, within;
  leaders.ranks = static_cast<int>(groups(of));
  within.ranks = static_cast<int>(group_size(of));
  leaders.by = within.by = of.by;
  return binomial_allreduce_cost(within, bytes, each.near) + binomial_allreduce_cost(leaders, bytes, each);
}
double smp_butterfly_cost(const arguments& of, double bytes, const path_costs& each) {
  arguments leaders;
  leaders.ranks = static_cast<int>(groups(of));
  arguments within;
  within.ranks = static_cast<int>(group_size(of));
  within.by = of.by;
  return binomial_cost(within, bytes, each.near) + binomial_cost(within, bytes, copying(each.near)) +
         halving_cost(leaders, bytes, each) + halving_cost(leaders, bytes, copying(each));
}

namespace {

/// What all but one of a cluster's ranks have of a vector.
double others_share(const arguments& of, double bytes) { return bytes * (group_size(of) - 1) / group_size(of); }
/// Within a cluster: halvings or doublings of its ranks' vector, so often.
double within_cluster(const arguments& of, double phases, double bytes, const link_costs& each) {
  return phases * (rounds(group_size(of)) * each.alpha + each.exchange * others_share(of, bytes));
}
/// The same towards those who are connected, or from them: over a tree where that is one.
double within_connected(const arguments& of, double phases, double bytes, const link_costs& each) {
  if (connected(of) > 1) return within_cluster(of, phases, bytes, each);
  return phases * rounds(group_size(of)) * sent(each, bytes);
}
double combined_within(const arguments& of, double bytes, const link_costs& each) {
  return each.gamma * others_share(of, bytes);
}

}  // namespace

double far_first_cost(const arguments& of, double bytes, const path_costs& each) {
  return rounds(groups(of)) * sent(each, bytes) + within_cluster(of, 2, bytes, each.near);
}
double modified_van_de_geijn_cost(const arguments& of, double bytes, const path_costs& each) {
  const double phases = connected(of) > 1 ? 2 : 1;
  return rounds(groups(of)) * sent(each, bytes / connected(of)) + within_connected(of, phases, bytes, each.near);
}
double two_tier_cost(const arguments& of, double bytes, const path_costs& each) {
  return rounds(groups(of)) * exchanged(each, bytes) + within_cluster(of, 4, bytes, each.near) +
         combined_within(of, bytes, each.near);
}
double modified_rabenseifner_cost(const arguments& of, double bytes, const path_costs& each) {
  const double combines = connected(of) > 1 ? 1 : rounds(group_size(of));
  return rounds(groups(of)) * exchanged(each, bytes / connected(of)) + within_connected(of, 2, bytes, each.near) +
         combines * combined_within(of, bytes, each.near);
}

}  // namespace weft::schedules
