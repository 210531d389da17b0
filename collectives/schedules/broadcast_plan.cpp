#include <algorithm>
#include <stdexcept>
#include <tuple>
#include <weft/schedules/broadcast_plan.hpp>
#include <weft/schedules/reduce_plan.hpp>
#include <weft/schedules/regular_trees.hpp>

#include "arguments.hpp"
#include "draw_tree.hpp"

namespace weft::schedules {
namespace {

tree tree_of(std::string_view algorithm, int ranks, int root) {
  if (algorithm == "binomial") return binomial_tree(ranks, root);
  if (algorithm == "chain") return chain_tree(ranks, root);
  throw std::invalid_argument("no broadcast over a tree is called \"" + std::string(algorithm) +
                              "\": there are binomial, chain");
}

}  // namespace

std::vector<std::string> broadcast_trees() { return {"binomial", "chain"}; }

broadcast_plan plan_broadcast(std::string_view algorithm, int ranks, int root, double transfer) {
  check_cost(transfer, "transfer");
  const tree over = tree_of(algorithm, ranks, root);
  broadcast_plan plan{std::string(algorithm), ranks, root, 0, {}};
  std::vector<double> arrival(static_cast<std::size_t>(ranks));
  for (const int rank : over.from_root()) {
    double free = arrival[static_cast<std::size_t>(rank)];
    const auto children = over.children(rank);
    for (std::size_t i = children.size(); i-- > 0; free += transfer) {
      plan.edges.push_back({rank, children[i], free, free + transfer});
      arrival[static_cast<std::size_t>(children[i])] = free + transfer;
      plan.length = std::max(plan.length, free + transfer);
    }
  }
  std::sort(plan.edges.begin(), plan.edges.end(),
            [](const timed_edge& a, const timed_edge& b) { return std::tie(a.start, a.to) < std::tie(b.start, b.to); });
  return plan;
}

std::string draw(const broadcast_plan& plan) {
  std::vector<const timed_edge*> transfer_to(static_cast<std::size_t>(plan.ranks));
  for (const timed_edge& edge : plan.edges) transfer_to.at(static_cast<std::size_t>(edge.to)) = &edge;
  return plan.algorithm + " broadcast, ranks " + std::to_string(plan.ranks) + ", root " + std::to_string(plan.root) +
         ", length " + time_text(plan.length) + "; in brackets, when the transfer to a rank starts and ends\n" +
         draw_tree(tree_of(plan.algorithm, plan.ranks, plan.root), [&](int rank) {
           const timed_edge* const edge = transfer_to[static_cast<std::size_t>(rank)];
           if (edge == nullptr) return std::to_string(rank);
           return std::to_string(rank) + "  [" + time_text(edge->start) + ", " + time_text(edge->end) + "]";
         });
}

}  // namespace weft::schedules
