// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>
#include <weft/schedules/uneven_tree.hpp>

#include "arguments.hpp"
#include "bisection.hpp"
#include "reduction_run.hpp"

namespace weft::schedules {
namespace {

/// A rank that could receive, time running backwards.
struct port_receiver {
  double next;  ///< the soonest end of a transfer to it from a rank with as fast a port
  double free;  ///< the soonest time at which it can compute
  int rank;
};

bool operator<(const port_receiver& a, const port_receiver& b) {
  return a.next < b.next || (a.next == b.next && a.rank < b.rank);
}
bool operator>(const port_receiver& a, const port_receiver& b) { return b < a; }

/// The next receiver first. Most never become the next: they wait in no order, so that the heap of the others is small.
class receiver_queue {
 public:
  bool empty() const noexcept { return near_.empty(); }
  const port_receiver& next() const { return near_.front(); }

  void push(const port_receiver& one) {
    if (!near_.empty() && one > farthest_near_) return far_.push_back(one);
    if (near_.empty()) farthest_near_ = one;
    near_.push_back(one);
    std::push_heap(near_.begin(), near_.end(), std::greater<>());
  }
  port_receiver pop() {
    std::pop_heap(near_.begin(), near_.end(), std::greater<>());
    const port_receiver next = near_.back();
    near_.pop_back();
    if (near_.empty() && !far_.empty()) fetch();
    return next;
  }

 private:
  /// An eighth of those far away, the nearest ones.
  void fetch() {
    const auto last = far_.begin() + static_cast<std::ptrdiff_t>(far_.size() / 8);
    std::nth_element(far_.begin(), last, far_.end(), std::less<>());
    farthest_near_ = *last;
    near_.assign(far_.begin(), last + 1);
    far_.erase(far_.begin(), last + 1);
    std::make_heap(near_.begin(), near_.end(), std::greater<>());
  }

  std::vector<port_receiver> near_, far_;  // near_: a heap
  port_receiver farthest_near_{};
};

/// One try to end at `end`.
class uneven_attempt {
 public:
  uneven_attempt(const uneven_costs& costs, int root, double end)
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
      const port_receiver best = receivers_.pop();
      while (hung(*fastest)) ++fastest;
      while (hung(*latest)) ++latest;
      const double after = receivers_.empty() ? sent(best, *fastest) : receivers_.next().next;
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
  double sent(const port_receiver& by, int rank) const {
    return by.free + costs_.compute(by.rank) + costs_.transfer(rank, by.rank);
  }
  void offer(int rank, double free) {
    const double computed = free + costs_.compute(rank);
    if (computed <= deadline(rank)) receivers_.push({computed + costs_.of(rank).transfer, free, rank});
  }

  const uneven_costs& costs_;
  double end_;
  std::vector<bool> hung_;
  receiver_queue receivers_;
};

template <class Key>
std::vector<int> ranks_by(std::size_t ranks, Key&& key) {
  std::vector<std::pair<double, int>> keyed(ranks);
  for (std::size_t i = 0; i < ranks; ++i) keyed[i] = {key(static_cast<int>(i)), static_cast<int>(i)};
  std::sort(keyed.begin(), keyed.end());
  std::vector<int> order(ranks);
  std::transform(keyed.begin(), keyed.end(), order.begin(), [](const auto& one) { return one.second; });
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

  const auto latest_first = ranks_by(ranks.size(), [&](int rank) { return -costs.arrival(rank); });
  const auto fastest_first =
      ranks_by(ranks.size(), [&](int rank) { return costs.of(rank).transfer + costs.of(rank).compute; });
  double soonest = length(best);
  const auto try_for = [&](double end) {
    const auto receptions = uneven_attempt(costs, root, end).run(fastest_first, latest_first);
    if (!receptions) return std::numeric_limits<double>::infinity();
    tree made(static_cast<int>(ranks.size()), root, *receptions);
    const double reached = length(made);
    if (reached < soonest) {
      soonest = reached;
      best = std::move(made);
    }
    return reached;
  };
  earliest_end(most.arrival, std::min(soonest, try_for(soonest)), try_for);
  return in_order_of_readiness(best, costs);
}

}  // namespace weft::schedules
