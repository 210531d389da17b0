// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <deque>
#include <stdexcept>
#include <string>
#include <weft/schedules/greedy_tree.hpp>

#include "arguments.hpp"
#include "reduction_run.hpp"
#include "tree_numbering.hpp"

namespace weft::schedules {
namespace {

// The paper counts visits from 1, this from 0.

/// A rank that could receive next, time running backwards.
struct receiver {
  double free = 0;  ///< s of the paper: the soonest time at which it can compute
  int since = 0;    ///< the visit that gave it this time
  int node = 0;     ///< the visit that added it
};

bool before(const receiver& a, const receiver& b) { return a.free < b.free || (a.free == b.free && a.since < b.since); }

/// What a visit decides.
struct visit {
  int receiver = -1;
  double sent = 0;  ///< t of the paper: when the transfer is over, time running backwards
};

/// Algorithm 2 with Algorithm 3's limit: without limits it is Algorithm 1. The times of new ranks never fall from one
/// visit to the next, nor do those of ranks used again: two queues hold them sorted, and no heap is needed.
std::vector<visit> visits(int ranks, double transfer, double compute, const greedy_limits& within, double latency) {
  std::vector<visit> made(static_cast<std::size_t>(ranks));
  std::deque<receiver> fresh, again{{0, 0, 0}};
  for (int i = 1; i < ranks; ++i) {
    auto& from = !again.empty() && (fresh.empty() || !before(fresh.front(), again.front())) ? again : fresh;
    const receiver best = from.front();
    from.pop_front();
    const bool limited = within.transfers > 0 && i > within.transfers;
    const double line_free = limited ? made[static_cast<std::size_t>(i - within.transfers)].sent : 0;
    const double sent = std::max(best.free + compute, line_free) + transfer + latency;
    made[static_cast<std::size_t>(i)] = {best.node, sent};
    if (within.reducers == 0 || i < within.reducers) fresh.push_back({sent, i, i});
    again.push_back({std::max(best.free + compute, sent - latency - compute), i, best.node});
  }
  return made;
}

/// Nodes are called by their visits; what is received first was visited last.
tree tree_of_visits(const std::vector<visit>& made) {
  std::vector<tree_edge> receptions;
  receptions.reserve(made.size() - 1);
  for (std::size_t i = made.size() - 1; i > 0; --i) receptions.push_back({static_cast<int>(i), made[i].receiver});
  return {static_cast<int>(made.size()), 0, receptions};
}

/// The times of Algorithm 2, for ranks called `name`.
reduce_timing limited_timing(const std::vector<visit>& made, double transfer, const std::vector<int>& name) {
  reduce_timing times;
  times.length = made.back().sent;
  times.edges.reserve(made.size() - 1);
  for (std::size_t i = 1; i < made.size(); ++i) {
    const double start = times.length - made[i].sent;
    times.edges.push_back({name[i], name[static_cast<std::size_t>(made[i].receiver)], start, start + transfer});
  }
  sort_by_start(times.edges);
  return times;
}

void check(int ranks, int root, double transfer, double compute, const greedy_limits& within, double latency) {
  check_rank(ranks, root, "root");
  check_cost(transfer, "transfer");
  check_cost(compute, "compute");
  check_cost(latency, "latency");
  for (const int limit : {within.transfers, within.reducers})
    if (limit < 0)
      throw std::invalid_argument("a limit of " + std::to_string(limit) +
                                  " lets nothing happen: at least 1, or 0 for none");
}

/// The tree named by visits, children in the order in which they are received.
tree shape_of(const std::vector<visit>& made, const even_costs& costs, const greedy_limits& within) {
  tree shape = tree_of_visits(made);
  return within.transfers > 0 ? shape : in_order_of_readiness(shape, costs);
}

}  // namespace

tree greedy_tree(int ranks, int root, double transfer, double compute, const greedy_limits& within, double latency) {
  check(ranks, root, transfer, compute, within, latency);
  const tree shape = shape_of(visits(ranks, transfer, compute, within, latency), {transfer, compute, latency}, within);
  return renamed(shape, preorder_ranks(shape, root));
}

timed_tree greedy_schedule(int ranks, int root, double transfer, double compute, const greedy_limits& within) {
  if (within.transfers == 0) {
    tree of = greedy_tree(ranks, root, transfer, compute, within);
    reduce_timing times = timing(of, transfer, compute);
    return {std::move(of), std::move(times)};
  }
  check(ranks, root, transfer, compute, within, 0);
  const auto made = visits(ranks, transfer, compute, within, 0);
  const tree shape = shape_of(made, {transfer, compute, 0}, within);
  const auto name = preorder_ranks(shape, root);
  return {renamed(shape, name), limited_timing(made, transfer, name)};
}

double greedy_length(int ranks, double transfer, double compute, double latency) {
  check(ranks, 0, transfer, compute, {}, latency);
  const double both = transfer + latency + compute, next_child = std::max(transfer, compute);
  if (next_child == 0) return ranks > 1 ? both : 0;
  struct reduced {
    double time, most;
  };
  // N changes only at times that are sums of the two: each is one of them later than an earlier one.
  std::vector<reduced> known{{0, 1}};
  for (std::size_t i = 0, j = 0; known.back().most < ranks;) {
    const double time = std::min(known[i].time + next_child, known[j].time + both);
    if (known[i].time + next_child <= time) ++i;
    if (known[j].time + both <= time) ++j;
    known.push_back({time, known[i - 1].most + (j == 0 ? 0 : known[j - 1].most)});
  }
  return known.back().time;
}

tree fibonacci_tree(int ranks, int root) { return greedy_tree(ranks, root, 1, 1); }

}  // namespace weft::schedules
