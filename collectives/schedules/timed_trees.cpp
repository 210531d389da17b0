// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <weft/schedules/reduction_tree.hpp>
#include <weft/schedules/regular_trees.hpp>
#include <weft/schedules/timed_trees.hpp>

#include "arguments.hpp"

namespace weft::schedules {
namespace {

/// Within a limit on transfers they start when Algorithm 2 has them start, whatever the ranks are called.
reduce_timing limited(const rank_ordered_tree& over, const algorithm_arguments& of) {
  const int shape_root = reorders(of) ? 0 : of.root;
  reduce_timing times = greedy_schedule(of.ranks, shape_root, of.transfer, of.compute, of.within).times;
  for (timed_edge& each : times.edges) {
    each.from = over.name(each.from);
    each.to = over.name(each.to);
  }
  return times;
}

reduce_timing times_of(const algorithm& how, const algorithm_arguments& of, const rank_ordered_tree& over) {
  if ((how.parameters & takes::limits) != 0 && of.within.transfers != 0) return limited(over, of);
  if ((how.parameters & takes::rank_costs) != 0) return timing(over.of, costs_of_ranks(of));
  return timing(over.of, of.transfer, of.compute);
}

tree tree_of(std::string_view algorithm, int ranks, int root) {
  if (algorithm == "binomial") return binomial_tree(ranks, root);
  if (algorithm == "chain") return chain_tree(ranks, root);
  throw std::invalid_argument("no broadcast over a tree is called \"" + std::string(algorithm) +
                              "\": there are binomial, chain");
}

}  // namespace

timed_reduction time_reduction(const algorithm& how, const algorithm_arguments& of) {
  if (how.shape == nullptr)
    throw std::invalid_argument(std::string(name(how.kind)) + " " + std::string(how.name) + " climbs no single tree");
  const rank_ordered_tree over = reduction_tree(how.shape, of);
  reduce_timing times = times_of(how, of, over);
  timed_reduction timed{std::string(how.name), of.ranks, of.root, over.of.root(), times.length, std::move(times.edges)};
  if (over.hands_over()) {
    timed.edges.push_back({timed.head, timed.root, timed.length, timed.length + of.transfer});
    timed.length += of.transfer;
  }
  return timed;
}

std::string draw(const timed_reduction& timed) {
  const bool hands_over = timed.head != timed.root;
  const std::span<const timed_edge> climbed(timed.edges.data(), timed.edges.size() - (hands_over ? 1 : 0));
  std::vector<tree_edge> receptions;
  std::vector<const timed_edge*> transfer_of(static_cast<std::size_t>(timed.ranks));
  for (const timed_edge& edge : climbed) {
    receptions.push_back({edge.from, edge.to});
    transfer_of.at(static_cast<std::size_t>(edge.from)) = &edge;
  }
  const auto times = [](const timed_edge& of) { return "  [" + time_text(of.start) + ", " + time_text(of.end) + "]"; };
  std::string text = timed.algorithm + " reduction, ranks " + std::to_string(timed.ranks) + ", root " +
                     std::to_string(timed.root) + ", length " + time_text(timed.length) +
                     "; in brackets, when a rank's transfer starts and ends\n";
  if (hands_over)
    text += "one more transfer, since the root cannot head the tree: " + std::to_string(timed.head) + " to " +
            std::to_string(timed.root) + times(timed.edges.back()) + "\n";
  return text + draw(tree(timed.ranks, timed.head, receptions), [&](int rank) {
           const timed_edge* const edge = transfer_of[static_cast<std::size_t>(rank)];
           return std::to_string(rank) + (edge == nullptr ? "" : times(*edge));
         });
}

std::vector<std::string> broadcast_trees() { return {"binomial", "chain"}; }

timed_broadcast time_broadcast(std::string_view algorithm, int ranks, int root, double transfer) {
  check_cost(transfer, "transfer");
  const tree over = tree_of(algorithm, ranks, root);
  timed_broadcast timed{std::string(algorithm), ranks, root, 0, {}};
  std::vector<double> arrival(static_cast<std::size_t>(ranks));
  for (const int rank : over.from_root()) {
    double free = arrival[static_cast<std::size_t>(rank)];
    const auto children = over.children(rank);
    for (std::size_t i = children.size(); i-- > 0; free += transfer) {
      timed.edges.push_back({rank, children[i], free, free + transfer});
      arrival[static_cast<std::size_t>(children[i])] = free + transfer;
      timed.length = std::max(timed.length, free + transfer);
    }
  }
  std::sort(timed.edges.begin(), timed.edges.end(),
            [](const timed_edge& a, const timed_edge& b) { return std::tie(a.start, a.to) < std::tie(b.start, b.to); });
  return timed;
}

std::string draw(const timed_broadcast& timed) {
  std::vector<const timed_edge*> transfer_to(static_cast<std::size_t>(timed.ranks));
  for (const timed_edge& edge : timed.edges) transfer_to.at(static_cast<std::size_t>(edge.to)) = &edge;
  return timed.algorithm + " broadcast, ranks " + std::to_string(timed.ranks) + ", root " + std::to_string(timed.root) +
         ", length " + time_text(timed.length) + "; in brackets, when the transfer to a rank starts and ends\n" +
         draw(tree_of(timed.algorithm, timed.ranks, timed.root), [&](int rank) {
           const timed_edge* const edge = transfer_to[static_cast<std::size_t>(rank)];
           if (edge == nullptr) return std::to_string(rank);
           return std::to_string(rank) + "  [" + time_text(edge->start) + ", " + time_text(edge->end) + "]";
         });
}

std::string time_text(double time) {
  constexpr double exact = 9007199254740992;  // 2^53: below, every whole number is a double
  if (std::abs(time) <= exact && time == std::trunc(time)) return std::to_string(static_cast<long long>(time));
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), time).ptr;
  return {text.data(), end};
}

}  // namespace weft::schedules
