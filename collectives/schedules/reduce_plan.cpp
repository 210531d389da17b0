#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <weft/schedules/reduce_plan.hpp>

#include "draw_tree.hpp"

namespace weft::schedules {
namespace {

tree tree_of(std::string_view algorithm, int ranks, int root, double transfer, double compute) {
  if (algorithm == "greedy") return greedy_tree(ranks, root, transfer, compute);
  if (algorithm == "binomial") return binomial_tree(ranks, root);
  throw std::invalid_argument("no reduction is called \"" + std::string(algorithm) +
                              "\": there are greedy and binomial");
}

}  // namespace

reduce_plan plan_reduce(std::string_view algorithm, int ranks, int root, double transfer, double compute) {
  reduce_timing timed = timing(tree_of(algorithm, ranks, root, transfer, compute), transfer, compute);
  return {std::string(algorithm), ranks, root, timed.length, std::move(timed.edges)};
}

std::string draw(const reduce_plan& plan) {
  std::vector<tree_edge> receptions;
  std::vector<const timed_edge*> transfer_of(static_cast<std::size_t>(plan.ranks));
  for (const timed_edge& edge : plan.edges) {
    receptions.push_back({edge.from, edge.to});
    transfer_of.at(static_cast<std::size_t>(edge.from)) = &edge;
  }
  const tree drawn(plan.ranks, plan.root, receptions);
  return plan.algorithm + " reduction, ranks " + std::to_string(plan.ranks) + ", root " + std::to_string(plan.root) +
         ", length " + time_text(plan.length) + "; in brackets, when a rank's transfer starts and ends\n" +
         draw_tree(drawn, [&](int rank) {
           const timed_edge* const edge = transfer_of[static_cast<std::size_t>(rank)];
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
