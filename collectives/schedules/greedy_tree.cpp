#include <algorithm>
#include <deque>
#include <weft/schedules/timing.hpp>
#include <weft/schedules/tree.hpp>

#include "arguments.hpp"

namespace weft::schedules {
namespace {

/// A rank that could receive next, time running backwards.
struct receiver {
  double free = 0;       ///< s of the paper: the soonest time at which it can compute
  int since = 0;         ///< the iteration that gave it this time
  std::size_t rank = 0;  ///< in the order in which the algorithm visits the ranks
};

bool before(const receiver& a, const receiver& b) { return a.free < b.free || (a.free == b.free && a.since < b.since); }

/// Algorithm 1: whom each rank, in the order of visits, sends to. The times of new ranks never fall from one iteration
/// to the next, nor do those of ranks used again: two queues hold them sorted, and no heap is needed.
std::vector<std::size_t> receivers(int ranks, double transfer, double compute) {
  std::vector<std::size_t> chosen(static_cast<std::size_t>(ranks));
  std::deque<receiver> fresh, again{{0, 0, 0}};
  for (int i = 1; i < ranks; ++i) {
    auto& from = !again.empty() && (fresh.empty() || !before(fresh.front(), again.front())) ? again : fresh;
    const receiver best = from.front();
    from.pop_front();
    chosen[static_cast<std::size_t>(i)] = best.rank;
    fresh.push_back({best.free + compute + transfer, i, static_cast<std::size_t>(i)});
    again.push_back({best.free + std::max(transfer, compute), i, best.rank});
  }
  return chosen;
}

/// The children of each rank as the times of Proposition 3 order them, those visited last first where they are equal.
std::vector<std::vector<std::size_t>> by_readiness(const std::vector<std::size_t>& receiver_of, double transfer,
                                                   double compute) {
  std::vector<std::vector<std::size_t>> children(receiver_of.size());
  std::vector<double> ready(receiver_of.size());
  std::vector<double> times;
  for (std::size_t i = receiver_of.size(); i-- > 0;) {  // a sender is visited after its receiver
    auto& senders = children[i];
    std::stable_sort(senders.begin(), senders.end(), [&](std::size_t a, std::size_t b) { return ready[a] < ready[b]; });
    times.clear();
    for (const std::size_t sender : senders) times.push_back(ready[sender]);
    ready[i] = combined_at(times, transfer, compute);
    if (i > 0) children[receiver_of[i]].push_back(i);
  }
  return children;
}

}  // namespace

tree greedy_tree(int ranks, int root, double transfer, double compute) {
  check_rank(ranks, root, "root");
  check_cost(transfer, "transfer");
  check_cost(compute, "compute");
  const auto children = by_readiness(receivers(ranks, transfer, compute), transfer, compute);

  // Numbered in preorder: a rank, then the subtrees of its children in the order in which it receives them.
  struct visit {
    std::size_t node;
    int parent;
  };
  std::vector<tree_edge> receptions;
  receptions.reserve(children.size() - 1);
  std::vector<visit> to_visit{{0, -1}};
  for (int place = 0; !to_visit.empty(); ++place) {
    const visit next = to_visit.back();
    to_visit.pop_back();
    const int rank = static_cast<int>((static_cast<long long>(place) + root) % ranks);
    if (next.parent != -1) receptions.push_back({rank, next.parent});
    const auto& below = children[next.node];
    for (auto child = below.rbegin(); child != below.rend(); ++child) to_visit.push_back({*child, rank});
  }
  return {ranks, root, receptions};
}

}  // namespace weft::schedules
