#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <utility>
#include <weft/schedules/reduce_plan.hpp>
#include <weft/schedules/reduction_tree.hpp>

#include "draw_tree.hpp"

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

}  // namespace

reduce_plan plan_reduce(const algorithm& how, const algorithm_arguments& of) {
  if (how.shape == nullptr)
    throw std::invalid_argument(std::string(name(how.kind)) + " " + std::string(how.name) + " climbs no single tree");
  const rank_ordered_tree over = reduction_tree(how.shape, of);
  reduce_timing times = times_of(how, of, over);
  reduce_plan plan{std::string(how.name), of.ranks, of.root, over.of.root(), times.length, std::move(times.edges)};
  if (over.hands_over()) {
    plan.edges.push_back({plan.head, plan.root, plan.length, plan.length + of.transfer});
    plan.length += of.transfer;
  }
  return plan;
}

std::string draw(const reduce_plan& plan) {
  const bool hands_over = plan.head != plan.root;
  const std::span<const timed_edge> climbed(plan.edges.data(), plan.edges.size() - (hands_over ? 1 : 0));
  std::vector<tree_edge> receptions;
  std::vector<const timed_edge*> transfer_of(static_cast<std::size_t>(plan.ranks));
  for (const timed_edge& edge : climbed) {
    receptions.push_back({edge.from, edge.to});
    transfer_of.at(static_cast<std::size_t>(edge.from)) = &edge;
  }
  const auto times = [](const timed_edge& of) { return "  [" + time_text(of.start) + ", " + time_text(of.end) + "]"; };
  std::string text = plan.algorithm + " reduction, ranks " + std::to_string(plan.ranks) + ", root " +
                     std::to_string(plan.root) + ", length " + time_text(plan.length) +
                     "; in brackets, when a rank's transfer starts and ends\n";
  if (hands_over)
    text += "one more transfer, since the root cannot head the tree: " + std::to_string(plan.head) + " to " +
            std::to_string(plan.root) + times(plan.edges.back()) + "\n";
  return text + draw_tree(tree(plan.ranks, plan.head, receptions), [&](int rank) {
           const timed_edge* const edge = transfer_of[static_cast<std::size_t>(rank)];
           return std::to_string(rank) + (edge == nullptr ? "" : times(*edge));
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
