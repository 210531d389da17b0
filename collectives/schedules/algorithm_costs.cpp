// SPDX-License-Identifier: Apache-2.0
#include "algorithm_costs.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>
#include <weft/schedules/greedy_tree.hpp>
#include <weft/schedules/prediction.hpp>

#include "followed_rank.hpp"
#include "phases.hpp"

namespace weft::schedules {
namespace {

using arguments = algorithm_arguments;

constexpr double never = std::numeric_limits<double>::infinity();

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

/// A reduction over a tree, or a broadcast backwards: a segment, and what each further one adds to the busiest rank's
/// port and processor.
struct tree_times {
  double first = 0, port = 0, processor = 0;
  double whole(double segments) const { return first + (segments - 1) * std::max(port, processor); }
};

/// What a segment of so many bytes costs the ranks of a tree.
struct hop {
  /// Whether the busiest port takes in as much as it sends.
  enum class ways { one, both };

  hop(const link_costs& each, double bytes, ways goes = ways::one)
      : transfer(goes == ways::both ? crossing(each, bytes) : port(each, bytes)),
        combine(each.gamma * bytes),
        compute(work(each, bytes)),
        latency(std::max(0.0, sent(each, bytes) - transfer - each.overhead)),
        overhead(each.overhead) {}

  double transfer, combine, compute, latency, overhead;

  double whole() const { return transfer + latency + compute; }
  /// A root that takes from so many children, one after another.
  tree_times root(double first, double children) const { return {first, children * transfer, children * compute}; }
};

/// Where processors are what is waited for, the next segment is taken before the first one is passed on.
tree_times chain_times(int ranks, const hop& by, double segments) {
  if (ranks == 1) return {};
  const double processor = by.compute + (ranks > 2 ? by.overhead : 0);
  const bool held_up = segments > 1 && processor > by.transfer;
  return {(ranks - 1) * by.whole() + (held_up ? (ranks - 2) * by.compute : 0), by.transfer, processor};
}

/// In which order a rank's messages go through its port: as they come; or, of a broadcast backwards, as it serves its
/// children.
enum class served { as_they_come, in_order };

/// When a rank has combined what comes from others, in this order, each of which sends when it is ready. The processor
/// does what comes first.
double combined_from(std::span<const double> ready, const hop& by, served how = served::as_they_come) {
  const std::size_t all = ready.size();
  std::vector<std::size_t> order(all);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (how == served::as_they_come) std::ranges::stable_sort(order, {}, [&](std::size_t i) { return ready[i]; });
  std::vector<double> arrival(all), received(all, never);
  double port_free = 0, processor_free = 0, combined = 0;
  for (const std::size_t i : order) {
    port_free = std::max(port_free, ready[i]) + by.transfer;
    arrival[i] = port_free + by.latency;
  }
  for (std::size_t receives = 0, combines = 0; combines < all;) {
    const double receive = receives < all ? arrival[order[receives]] : never;
    const double combine = std::max(combined, received[combines]);
    if (combine <= receive) {
      processor_free = combined = std::max(processor_free, combine) + by.combine;
      ++combines;
    } else {
      processor_free = received[order[receives++]] = std::max(processor_free, receive) + by.overhead;
    }
  }
  return combined;
}

/// The f-nomial tree from the leaves on: in phase k a rank takes from f - 1 others, the roots of trees of f^k ranks,
/// but where fewer are left.
class fnomial_run {
 public:
  fnomial_run(int degree, const hop& by, served how = served::as_they_come) : degree_(degree), by_(by), how_(how) {}

  tree_times of(int ranks) {
    for (long long size = 1; size < ranks; size *= degree_) full_.push_back(done(size));
    double children = 0;
    for_each_child(ranks, [&](std::size_t, long long, bool) { ++children; });
    return by_.root(done(ranks), children);
  }

 private:
  template <class Each>
  void for_each_child(long long ranks, Each&& each) const {
    std::size_t phase = 0;
    for (long long size = 1; size < ranks; size *= degree_, ++phase)
      for (long long at = size; at < size * degree_ && at < ranks; at += size)
        each(phase, std::min(size, ranks - at), size <= ranks - at);
  }
  double done(long long ranks) const {
    std::vector<double> ready;
    for_each_child(ranks, [&](std::size_t phase, long long size, bool is_full) {
      // Of all children only the last one may have fewer than its phase has.
      ready.push_back(is_full ? full_[phase] : done(size));
    });
    return combined_from(ready, by_, how_);
  }

  const int degree_;
  const hop& by_;
  const served how_;
  std::vector<double> full_;  ///< when the roots of trees of 1, f, f^2, ... ranks are done
};

/// The greedy tree's root has as many children as follow one another until it is done.
tree_times greedy_times(int ranks, const hop& by) {
  if (ranks == 1) return {};
  const double first = greedy_length(ranks, by.transfer, by.compute, by.latency);
  const double next = std::max(by.transfer, by.compute);
  const double children = next == 0 ? 0 : std::min(std::floor((first - by.whole()) / next + 1e-9) + 1, ranks - 1.0);
  return by.root(first, children);
}

/// A tree of order k is one of order k - 1 whose root then takes from one of order k - 2: the least that has all ranks.
/// Where it has more, the root's last child is among those that are left out.
tree_times fibonacci_times(int ranks, const hop& by) {
  if (ranks == 1) return {};
  int order = 1;
  double port_free = by.transfer, shorter = 0, done = by.whole();
  long long fewer = 1, members = 2;
  for (; members < ranks; ++order) {
    port_free = std::max(port_free, shorter) + by.transfer;
    shorter = std::exchange(done, std::max(done, port_free + by.latency) + by.compute);
    fewer = std::exchange(members, members + fewer);
  }
  return by.root(done, members == ranks ? order : order - 1);
}

double smallest_group(const arguments& of) {
  double least = p(of);
  for (const auto& members : of.groups) least = std::min(least, static_cast<double>(members.size()));
  return least;
}
double connected(const arguments& of) { return std::min<double>(of.connections, smallest_group(of)); }

hop hop_of(const arguments& of, double bytes, const link_costs& each, hop::ways goes = hop::ways::one) {
  return {each, bytes / of.by.segments, goes};
}
hop hop_of_chain(const arguments& of, double bytes, const link_costs& each) {
  return hop_of(of, bytes, each, of.ranks > 2 && of.by.segments > 1 ? hop::ways::both : hop::ways::one);
}

}  // namespace

double chain_cost(const arguments& of, double bytes, const path_costs& each) {
  return chain_times(of.ranks, hop_of_chain(of, bytes, each), of.by.segments).whole(of.by.segments);
}
/// The last rank combines nothing; those before it copy what comes, too.
double chain_exscan_cost(const arguments& of, double bytes, const path_costs& each) {
  if (of.ranks <= 2) return chain_cost(of, bytes, copying(each));
  tree_times times = chain_times(of.ranks, hop_of_chain(of, bytes, each), of.by.segments);
  const double combine = each.gamma * bytes / of.by.segments;
  times.first -= combine;
  times.processor += combine;
  return times.whole(of.by.segments);
}
double binomial_cost(const arguments& of, double bytes, const path_costs& each) {
  const hop by = hop_of(of, bytes, each);
  return fnomial_run(2, by).of(of.ranks).whole(of.by.segments);
}
double binomial_broadcast_cost(const arguments& of, double bytes, const path_costs& each) {
  const hop by = hop_of(of, bytes, copying(each));
  return fnomial_run(2, by, served::in_order).of(of.ranks).whole(of.by.segments);
}
double greedy_cost(const arguments& of, double bytes, const path_costs& each) {
  return greedy_times(of.ranks, hop_of(of, bytes, each)).whole(of.by.segments);
}
double fnomial_cost(const arguments& of, double bytes, const path_costs& each) {
  const hop by = hop_of(of, bytes, each);
  return fnomial_run(of.degree, by).of(of.ranks).whole(of.by.segments);
}
double fibonacci_cost(const arguments& of, double bytes, const path_costs& each) {
  return fibonacci_times(of.ranks, hop_of(of, bytes, each)).whole(of.by.segments);
}
namespace {

/// How often the bytes of a segment go through the busiest port where a segment climbs a binomial tree while others
/// descend it: ports that are busy both ways without a pause hold up each other, less where the largest subtree is half
/// as large as it may be. As simulated for 3 to 130 ranks.
double passes_up_and_down(int ranks) {
  if (ranks <= 2) return ranks - 1;
  const double children = std::ceil(std::log2(ranks)), full = std::exp2(children - 1), last = (ranks - full) / full;
  return std::max(2.15, 2 * children - (last > 0.3 && last < 0.55 ? 2.9 : 2.3));
}

}  // namespace

/// Down again what has come up, segment by segment: while one climbs others are on their way down.
double binomial_allreduce_cost(const arguments& of, double bytes, const path_costs& each) {
  const hop::ways goes = of.by.segments > 1 ? hop::ways::both : hop::ways::one;
  const hop combining = hop_of(of, bytes, each, goes), moving = hop_of(of, bytes, copying(each), goes);
  const tree_times up = fnomial_run(2, combining).of(of.ranks),
                   down = fnomial_run(2, moving, served::in_order).of(of.ranks);
  const double port = passes_up_and_down(of.ranks) * combining.transfer;
  return tree_times{up.first + down.first, port, up.processor + down.processor}.whole(of.by.segments);
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
namespace {

/// The first piece over one of two trees: of so many nodes that are not the root (two_tree.cpp).
double two_tree_first(int nodes, const hop& by) {
  if (nodes <= 1) return 0;
  const int left = static_cast<int>(std::bit_floor(static_cast<unsigned>(nodes))) - 1, right = nodes - left - 1;
  std::vector<double> ready{two_tree_first(left, by)};
  if (right > 0) ready.push_back(two_tree_first(right, by));
  return combined_from(ready, by);
}

}  // namespace

/// A rank has up to two children in one of the trees, and none in the other.
double two_tree_cost(const arguments& of, double bytes, const path_costs& each) {
  if (of.ranks == 1) return 0;
  const double segments = 2.0 * of.by.segments, part = bytes / segments;
  if (of.ranks == 2) return combined(each, part) + (segments - 1) * combined_behind(each, part);
  const hop by(each, part, hop::ways::both);
  const int nodes = of.ranks - 1, paired = nodes - nodes % 2;
  const double other = two_tree_first(paired, by);
  // The last of an odd number is above all others in one of the trees.
  const double tops[] = {two_tree_first(nodes, by), paired == nodes ? other : combined_from({{other}}, by)};
  const double next = exchanged_behind(each, part);
  const bool held_up = segments > 2 && next > by.transfer;
  const double depth = std::bit_width(static_cast<unsigned>(nodes));
  return combined_from(tops, by) + (held_up ? depth * by.compute : 0) + (segments - 2) * next;
}
/// Of two ranks the one sends back what the other still sends. Of three each has one child, and its port has time left.
double two_tree_allreduce_cost(const arguments& of, double bytes, const path_costs& each) {
  const double segments = 2.0 * of.by.segments, part = bytes / segments;
  if (of.ranks != 2) {
    const double left = of.ranks == 3 ? (segments - 2) / 2 * exchanged_behind(copying(each), part) : 0;
    return two_tree_cost(of, bytes, each) + two_tree_cost(of, bytes, copying(each)) - left;
  }
  return combined(each, part) + sent(each, part) + (segments - 1) * exchanged_behind(each, part);
}
operand_costs operand_costs_of(double bytes, const path_costs& each) {
  constexpr double finest = 1000;  // whole numbers, whose sums are exact
  const double transfer = port(each, bytes), compute = work(each, bytes);
  const double latency = std::max(0.0, sent(each, bytes) - transfer - each.overhead),
               most = std::max({transfer, compute, latency});
  if (most == 0) return {};
  const auto part = [&](double of) { return std::round(finest * of / most); };
  return {part(transfer), part(compute), part(latency), most / finest};
}
namespace {

/// Of ranks that hold a block each, and of one more: one of them sends another one the blocks of half of them, then
/// both go on alike.
std::pair<double, double> spread(int members, double block, const link_costs& each) {
  if (members == 0) return {0, 0};
  const auto [half, half_and_one] = spread(members / 2, block, each);
  const auto times = [&](int all, double sent_half, double kept_half) {
    if (all <= 1) return 0.0;
    const double bytes = block * (all / 2);
    return std::max(sent(each, bytes) + sent_half, (all > 2 ? sent_behind(each, bytes) : 0) + kept_half);
  };
  const bool odd = members % 2 == 1;
  return {times(members, half, odd ? half_and_one : half), times(members + 1, odd ? half_and_one : half, half_and_one)};
}

}  // namespace

double spread_cost(const arguments& of, double bytes, const path_costs& each) {
  return spread(of.ranks, bytes / p(of), each).first;
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
  leaders.by = of.by;
  arguments within;
  within.ranks = static_cast<int>(group_size(of));
  within.by = of.by;
  if (leaders.ranks == 1) return binomial_allreduce_cost(within, bytes, each.near);
  return binomial_cost(within, bytes, each.near) + binomial_broadcast_cost(within, bytes, each.near) +
         halving_cost(leaders, bytes, each) + halving_cost(leaders, bytes, copying(each));
}

namespace {

arguments of_ranks(double ranks, const pipeline& by) {
  arguments some;
  some.ranks = static_cast<int>(ranks);
  some.by = by;
  some.degree = 2;
  return some;
}
/// The ranks of a cluster, of those connected, and of those whom one of these serves; and one of each cluster.
arguments members(const arguments& of) { return of_ranks(group_size(of), of.by); }
arguments connected_ranks(const arguments& of) { return of_ranks(connected(of), of.by); }
arguments served_by_one(const arguments& of) { return of_ranks(std::ceil(group_size(of) / connected(of)), of.by); }
arguments counterparts(const arguments& of) { return of_ranks(groups(of), {}); }

}  // namespace

double far_first_cost(const arguments& of, double bytes, const path_costs& each) {
  const arguments across = of_ranks(groups(of), of.by);
  return binomial_broadcast_cost(across, bytes, each) + spread_cost(members(of), bytes, copying(each.near)) +
         halving_cost(members(of), bytes, copying(each.near));
}
double modified_van_de_geijn_cost(const arguments& of, double bytes, const path_costs& each) {
  const arguments across = of_ranks(groups(of), of.by);
  const path_costs near = copying(each.near);
  const double part = bytes / connected(of);
  return spread_cost(connected_ranks(of), bytes, near) + binomial_broadcast_cost(across, part, each) +
         spread_cost(served_by_one(of), part, near) + halving_cost(members(of), bytes, near);
}
double two_tier_cost(const arguments& of, double bytes, const path_costs& each) {
  const path_costs near = each.near;
  return halving_cost(members(of), bytes, near) + halving_cost(members(of), bytes, copying(near)) +
         2 * spread_cost(members(of), bytes, copying(near)) + doubling_cost(counterparts(of), bytes, each);
}
double modified_rabenseifner_cost(const arguments& of, double bytes, const path_costs& each) {
  const path_costs near = each.near;
  const double part = bytes / connected(of);
  return halving_cost(members(of), bytes, near) + halving_cost(members(of), bytes, copying(near)) +
         2 * spread_cost(served_by_one(of), part, copying(near)) + doubling_cost(counterparts(of), part, each);
}
namespace {

/// An all-gather by doubling among members that have so many bytes each.
double gathered_cost(std::span<const double> bytes, const link_costs& each) {
  const int members = static_cast<int>(bytes.size());
  const auto halved = halvings(members, 0, 2);
  followed_rank rank;
  for (std::size_t round = halved.size(); round-- > 0;) {
    const int sent = halved[round][0].count();
    double row = std::accumulate(bytes.begin(), bytes.begin() + sent, 0.0), most = row;
    for (int place = 1; place < members; ++place) {
      row += bytes[static_cast<std::size_t>((place + sent - 1) % members)] - bytes[static_cast<std::size_t>(place - 1)];
      most = std::max(most, row);
    }
    // The last one before it that brings some of that.
    std::size_t brings = round + 1;
    while (brings < halved.size() && halved[brings][0].first >= sent) ++brings;
    rank.add(piece_times(each, most), static_cast<int>(halved.size() - brings) - 1);
  }
  return rank.end();
}

}  // namespace

/// By what members of the largest group have; those of the smallest may carry several messages of a round.
double local_bruck_cost(const arguments& of, double bytes, const path_costs& each) {
  const int all = static_cast<int>(groups(of)), size = of.ranks / all;
  const auto within = static_cast<std::size_t>(group_size(of)), ranks = static_cast<std::size_t>(of.ranks);
  if (all == 1 || within == 1) return halving_cost(of_ranks(of.ranks, {}), bytes, each);
  const double chunk = bytes / p(of);
  std::vector<double> had(within, chunk);
  double cost = gathered_cost(had, each.near);
  const auto rounds = halvings(all, 0, size + 1);
  for (auto round = rounds.rbegin(); round != rounds.rend(); ++round) {
    const std::size_t pieces = std::max<std::size_t>(1, static_cast<std::size_t>(size) / round->size()),
                      carried = round->size() * pieces;
    std::ranges::fill(had, 0);
    double longest = 0;
    for (std::size_t i = 0; i < carried; ++i) {
      const std::size_t held = std::min(ranks, within * static_cast<std::size_t>((*round)[i / pieces].count())),
                        piece = i % pieces;
      const auto chunks = first_of_part(held, pieces, piece + 1) - first_of_part(held, pieces, piece);
      had[i * within / carried] += chunk * static_cast<double>(chunks);
      longest = std::max(longest, chunk * static_cast<double>(chunks));
    }
    const piece_times far(each, longest);
    const double again = std::ceil(static_cast<double>(carried) / smallest_group(of)) - 1;
    const double crosses = far.alone() + again * far.behind();
    const bool at_once = round == rounds.rbegin() && carried == within && round->size() == 1;  // of own chunks
    cost = at_once ? std::max(cost + far.behind(), crosses) : cost + crosses;
    cost += gathered_cost(had, each.near);
  }
  return cost;
}

}  // namespace weft::schedules
