// SPDX-License-Identifier: Apache-2.0
#include "algorithm_costs.hpp"

#include <algorithm>
#include <utility>
#include <weft/schedules/fnomial_model.hpp>
#include <weft/schedules/greedy_tree.hpp>
#include <weft/schedules/prediction.hpp>

namespace weft::schedules {
namespace {

using arguments = algorithm_arguments;

/// What a long message takes beside α, or the gap, and β.
double handshake(const link_costs& each, double bytes) {
  return (bytes > each.eager ? each.handshake : 0) + each.far * std::max(0.0, bytes - link_costs::cached);
}
/// A message of so many bytes, and one right behind another.
double sent(const link_costs& each, double bytes) { return each.alpha + handshake(each, bytes) + each.beta * bytes; }
double sent_behind(const link_costs& each, double bytes) {
  return each.gap + handshake(each, bytes) + each.beta * bytes;
}
double combined(const link_costs& each, double bytes) { return sent(each, bytes) + each.gamma * bytes; }
/// Two messages that cross, each combined.
double exchanged(const link_costs& each, double bytes) {
  return each.alpha + handshake(each, bytes) + (each.exchange + each.gamma) * bytes;
}
double exchanged_behind(const link_costs& each, double bytes) {
  return each.gap + handshake(each, bytes) + (each.exchange + each.gamma) * bytes;
}

/// A vector over a tree in which a rank sends or receives, one after another, `degree` times on the way of `depth`
/// edges: segments after the first follow it as closely as the busiest rank lets them.
double over_tree(const link_costs& each, double depth, double degree, double segments, double bytes) {
  const double part = bytes / segments;
  return depth * combined(each, part) + (segments - 1) * degree * (sent_behind(each, part) + each.gamma * part);
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
  if (of.ranks == 1) return 0;
  const double part = bytes / of.by.segments;
  // A rank in the middle receives one segment while it sends another.
  const double next = of.ranks == 2 ? sent_behind(each, part) + each.gamma * part : exchanged_behind(each, part);
  return (p(of) - 1) * combined(each, part) + (of.by.segments - 1) * next;
}
/// A binomial tree's root serves log2 p children a segment, the first segment climbs log2 p edges.
double binomial_cost(const arguments& of, double bytes, const path_costs& each) {
  const double children = rounds(p(of));
  return over_tree(each, children, children, of.by.segments, bytes);
}
/// As long as the tree is in Canon and Antoniu's model, where a transfer takes its port for all of its time; the others
/// may be shorter where messages follow one another sooner than that, and with several segments.
double greedy_cost(const arguments& of, double bytes, const path_costs& each) {
  const double others = std::min(binomial_cost(of, bytes, each), fibonacci_cost(of, bytes, each));
  if (of.by.segments > 1) return others;
  return std::min(others, greedy_length(of.ranks, sent(each, bytes), each.gamma * bytes));
}
/// An f-nomial tree's root serves its children one after another.
double fnomial_cost(const arguments& of, double bytes, const path_costs& each) {
  const double part = bytes / of.by.segments, reception = sent_behind(each, part);
  const auto time = [&](double latency) {
    return fnomial_time(of.ranks, of.degree, {latency, reception, each.gamma * part, 0});
  };
  return time(sent(each, part) - reception) + (of.by.segments - 1) * time(0);
}
/// A tree of order k is one of order k - 1 whose root then receives from one of order k - 2.
double fibonacci_cost(const arguments& of, double bytes, const path_costs& each) {
  if (of.ranks == 1) return 0;
  const double part = bytes / of.by.segments, transfer = sent_behind(each, part), combine = each.gamma * part;
  const double latency = sent(each, part) - transfer;
  int order = 1;
  double received = latency + transfer, done = received + combine, shorter = 0, shortest = 0;
  for (long long fewer = 1, members = 2; members < of.ranks; ++order) {
    shortest = std::exchange(shorter, done);
    received = std::max(received, shortest + latency) + transfer;
    done = std::max(done, received) + combine;
    fewer = std::exchange(members, members + fewer);
  }
  return done + (of.by.segments - 1) * (transfer + (order - 1) * std::max(transfer, combine) + combine);
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
  const double behind = sent_behind(each, part) + each.gamma * part;
  if (of.ranks == 2) return combined(each, part) + (segments - 1) * behind;
  const double depth = std::floor(std::log2(p(of)));
  return (depth + 1) * combined(each, part) + depth * behind + (segments - 1) * exchanged_behind(each, part);
}
operand_costs operand_costs_of(double bytes, const path_costs& each) {
  constexpr double finest = 1000;  // whole numbers, whose sums are exact
  const double transfer = sent(each, bytes), compute = each.gamma * bytes, more = std::max(transfer, compute);
  if (more == 0) return {1, 1};
  return {std::round(finest * transfer / more), std::round(finest * compute / more)};
}
double spread_cost(const arguments& of, double bytes, const path_costs& each) {
  return by_halves(
      p(of), bytes, [&](double half) { return combined(each, half); }, [](double) { return 0.0; });
}
double halving_cost(const arguments& of, double bytes, const path_costs& each) {
  return by_halves(
      p(of), bytes, [&](double half) { return exchanged(each, half); },
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
  const auto both_ways = [&](const link_costs& by, double members) {
    link_costs back = by;
    back.gamma = 0;
    return over_tree(by, rounds(members), rounds(members), of.by.segments, bytes) +
           over_tree(back, rounds(members), rounds(members), of.by.segments, bytes);
  };
  return both_ways(each.near, group_size(of)) + both_ways(each, groups(of));
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
