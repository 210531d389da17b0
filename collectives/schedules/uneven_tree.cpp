#include <algorithm>
#include <numeric>
#include <optional>
#include <queue>
#include <vector>
#include <weft/schedules/uneven_tree.hpp>

#include "arguments.hpp"
#include "bisection.hpp"
#include "reduction_run.hpp"

namespace weft::schedules {
namespace {

/// A rank that could receive, time running backwards.
struct receiver {
  double next;  ///< the soonest end of a transfer to it from a rank with as fast a port
  double free;  ///< the soonest time at which it can compute
  int rank;
};

bool operator>(const receiver& a, const receiver& b) {
  return a.next > b.next || (a.next == b.next && a.rank > b.rank);
}

/// One try to end at `end`.
class attempt {
 public:
  attempt(const uneven_costs& costs, int root, double end)
      : costs_(costs), end_(end), hung_(costs.ranks.size(), false) {
    hung_[static_cast<std::size_t>(root)] = true;
    offer(root, 0);
  }

  /// The edges when every rank hangs itself below another, nothing when some do not end in time. Both lists hold all
  /// ranks.
  std::optional<std::vector<tree_edge>> run(const std::vector<int>& fastest_first,
                                            const std::vector<int>& latest_first) {
    std::vector<tree_edge> receptions;
    receptions.reserve(hung_.size() - 1);
    auto fastest = fastest_first.begin(), latest = latest_first.begin();
    while (receptions.size() + 1 < hung_.size()) {
      if (receivers_.empty()) return std::nullopt;
      const receiver best = receivers_.top();
      receivers_.pop();
      while (hung(*fastest)) ++fastest;
      while (hung(*latest)) ++latest;
      const double after = receivers_.empty() ? sent(best, *fastest) : receivers_.top().next;
      const int rank = after > deadline(*latest) ? *latest : *fastest;
      if (sent(best, rank) > deadline(rank)) return std::nullopt;
      receptions.push_back({rank, best.rank});
      hung_[static_cast<std::size_t>(rank)] = true;
      offer(rank, sent(best, rank));
      offer(best.rank, std::max(best.free + costs_.compute(best.rank), sent(best, rank) - costs_.compute(best.rank)));
    }
    return receptions;
  }

 private:
  bool hung(int rank) const { return hung_[static_cast<std::size_t>(rank)]; }
  double deadline(int rank) const { return end_ - costs_.arrival(rank); }
  double sent(const receiver& by, int rank) const {
    return by.free + costs_.compute(by.rank) + costs_.transfer(rank, by.rank);
  }
  void offer(int rank, double free) {
    const double computed = free + costs_.compute(rank);
    if (computed <= deadline(rank)) receivers_.push({computed + costs_.of(rank).transfer, free, rank});
  }

  const uneven_costs& costs_;
  double end_;
  std::vector<bool> hung_;
  std::priority_queue<receiver, std::vector<receiver>, std::greater<>> receivers_;
};

template <class Key>
std::vector<int> ranks_by(std::size_t ranks, Key&& key) {
  std::vector<int> order(ranks);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return key(a) < key(b); });
  return order;
}

}  // namespace

tree uneven_tree(std::span<const rank_costs> ranks, int root) {
  check_rank(static_cast<int>(ranks.size()), root, "root");
  check_costs(ranks);
  const uneven_costs costs{ranks};
  std::vector<double> arrivals;
  rank_costs most{0, 0, 0};
  for (const rank_costs& one : ranks) {
    arrivals.push_back(one.arrival);
    most = {std::max(most.arrival, one.arrival), std::max(most.transfer, one.transfer),
            std::max(most.compute, one.compute)};
  }
  const auto length = [&](const tree& of) { return run_reduction(of, costs, [](const timed_edge&) {}); };
  tree best = arrival_tree(arrivals, root, most.transfer, most.compute);
  const double enough = length(best);

  const auto latest_first = ranks_by(ranks.size(), [&](int rank) { return -costs.arrival(rank); });
  const auto fastest_first =
      ranks_by(ranks.size(), [&](int rank) { return costs.of(rank).transfer + costs.of(rank).compute; });
  earliest_end(most.arrival, enough, [&](double end) -> std::optional<bool> {
    const auto receptions = attempt(costs, root, end).run(fastest_first, latest_first);
    if (!receptions) return std::nullopt;
    const tree made = tree(static_cast<int>(ranks.size()), root, *receptions);
    if (length(made) < length(best)) best = made;
    return true;
  });
  return in_order_of_readiness(best, costs);
}

}  // namespace weft::schedules
