// SPDX-License-Identifier: Apache-2.0
// A reduction over a tree, operand by operand, in the model of timing.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>
#include <weft/schedules/timing.hpp>

namespace weft::schedules {

/// The same costs for all ranks, whose data is there at 0.
struct even_costs {
  double transfer_cost, compute_cost, latency_cost = 0;
  double arrival(int) const { return 0; }
  double transfer(int, int) const { return transfer_cost; }
  double latency() const { return latency_cost; }
  double compute(int) const { return compute_cost; }
};

/// Each rank's own.
struct uneven_costs {
  std::span<const rank_costs> ranks;
  const rank_costs& of(int rank) const { return ranks[static_cast<std::size_t>(rank)]; }
  double arrival(int rank) const { return of(rank).arrival; }
  double transfer(int from, int to) const { return std::max(of(from).transfer, of(to).transfer); }
  double latency() const { return 0; }
  double compute(int rank) const { return of(rank).compute; }
};

/// In which order a rank receives from its children.
enum class reception_order : std::uint8_t {
  as_ready,  ///< when they are ready, those that are at the same time in the tree's order
  as_listed  ///< the tree's order, come what may
};

/// Costs say when a rank's own operand is there, how long a transfer keeps both ports busy, how much later the operand
/// is there (latency), and how long a combine takes. Calls `each` with every transfer, a rank's in the order in which
/// it receives them; returns when the root is done.
template <class Costs, class Each>
double run_reduction(const tree& of, const Costs& costs, Each&& each, reception_order in = reception_order::as_ready) {
  std::vector<double> done(static_cast<std::size_t>(of.ranks()));
  const auto done_at = [&](int rank) -> double& { return done[static_cast<std::size_t>(rank)]; };
  const auto order = of.from_root();
  std::vector<int> senders;
  for (auto node = order.rbegin(); node != order.rend(); ++node) {
    const auto children = of.children(*node);
    senders.assign(children.begin(), children.end());
    const auto sooner = [&](int a, int b) { return done_at(a) < done_at(b); };
    if (in == reception_order::as_ready && !std::is_sorted(senders.begin(), senders.end(), sooner))
      std::stable_sort(senders.begin(), senders.end(), sooner);
    double port_free = 0;
    double combined = costs.arrival(*node);
    for (const int sender : senders) {
      const double start = std::max(port_free, done_at(sender));
      port_free = start + costs.transfer(sender, *node);
      combined = std::max(combined, port_free + costs.latency()) + costs.compute(*node);
      each(timed_edge{sender, *node, start, port_free});
    }
    done_at(*node) = combined;
  }
  return done_at(of.root());
}

/// The same tree, each rank's children in the order in which it receives them.
template <class Costs>
tree in_order_of_readiness(const tree& of, const Costs& costs) {
  std::vector<tree_edge> receptions;
  receptions.reserve(static_cast<std::size_t>(of.ranks()) - 1);
  run_reduction(of, costs, [&](const timed_edge& transfer) { receptions.push_back({transfer.from, transfer.to}); });
  return {of.ranks(), of.root(), receptions};
}

void sort_by_start(std::vector<timed_edge>& edges);

/// Throws std::invalid_argument unless all costs are finite and at least 0.
void check_costs(std::span<const rank_costs> ranks);

}  // namespace weft::schedules
