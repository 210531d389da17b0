#include <algorithm>
#include <deque>
#include <numeric>
#include <optional>
#include <vector>
#include <weft/schedules/greedy_tree.hpp>
#include <weft/schedules/uneven_tree.hpp>

#include "arguments.hpp"
#include "bisection.hpp"
#include "deadline_slack.hpp"
#include "reduction_run.hpp"

namespace weft::schedules {
namespace {

/// A node of the tree that could receive. Nodes are called by the visits that added them; 0 is the root.
struct candidate {
  double free;      ///< s of the paper: the soonest time at which it can compute for the next transfer
  double computed;  ///< when it has computed for all so far: early, since operands may wait for the combine
  int node;
};

/// One try to end at `end`, time running backwards from there.
class attempt {
 public:
  /// `latest_first`: the ranks but the root, those that arrive last first.
  attempt(std::span<const double> arrivals, const std::vector<int>& latest_first, int root, const even_costs& costs,
          double end)
      : costs_(costs), root_deadline_(end - arrivals[static_cast<std::size_t>(root)]), slack_(latest_first.size()) {
    for (const int rank : latest_first) deadlines_.push_back(end - arrivals[static_cast<std::size_t>(rank)]);
    computed_.resize(arrivals.size());
    receptions_.reserve(deadlines_.size());
  }

  /// Whether every node hangs below another in time.
  bool run() {
    while (receptions_.size() < deadlines_.size()) {
      auto* from = &root_;
      for (auto* const queue : {&again_, &fresh_})
        if (!queue->empty() && (from->empty() || queue->front().free < from->front().free)) from = queue;
      if (from->empty()) return false;
      const candidate best = from->front();
      from->pop_front();
      if (may_receive(best)) receive(best);
    }
    return true;
  }

  /// The tree's edges, of nodes called by the ranks: the less time a node leaves, the earlier the rank arrives. Nothing
  /// when they do not arrive in time for that.
  std::optional<std::vector<tree_edge>> named(const std::vector<int>& latest_first, int root) {
    std::vector<int> soonest_first(deadlines_.size());
    std::iota(soonest_first.begin(), soonest_first.end(), 1);
    std::stable_sort(soonest_first.begin(), soonest_first.end(), [&](int a, int b) { return done(a) < done(b); });
    std::vector<int> name(computed_.size(), root);
    for (std::size_t i = 0; i < soonest_first.size(); ++i) {
      if (done(soonest_first[i]) > deadlines_[i]) return std::nullopt;
      name[static_cast<std::size_t>(soonest_first[i])] = latest_first[i];
    }
    for (tree_edge& edge : receptions_)
      edge = {name[static_cast<std::size_t>(edge.from)], name[static_cast<std::size_t>(edge.to)]};
    return std::move(receptions_);
  }

 private:
  double& done(int node) { return computed_[static_cast<std::size_t>(node)]; }

  /// The first deadline that `time` meets.
  std::size_t first_met(double time) const {
    return static_cast<std::size_t>(std::lower_bound(deadlines_.begin(), deadlines_.end(), time) - deadlines_.begin());
  }

  /// Whether enough other nodes meet the deadlines that this one, receiving once more, would miss: they have gone by,
  /// and no new node meets them.
  bool may_receive(const candidate& one) {
    const double computed = one.computed + costs_.compute_cost;
    if (one.node == 0) return computed <= root_deadline_;
    const std::size_t first = first_met(one.computed), last = first_met(computed);
    if (first == last) return true;
    if (slack_.least(first, last) <= 1) return false;
    slack_.add(first, last, -1);
    return true;
  }

  void receive(const candidate& one) {
    const int added = static_cast<int>(receptions_.size()) + 1;
    receptions_.push_back({added, one.node});
    const double computed = one.computed + costs_.compute_cost;
    const double sent = one.free + costs_.compute_cost + costs_.transfer_cost;
    done(one.node) = computed;
    done(added) = sent;
    slack_.add(first_met(sent), deadlines_.size(), 1);
    fresh_.push_back({sent, sent, added});
    (one.node == 0 ? root_ : again_)
        .push_back({one.free + std::max(costs_.compute_cost, costs_.transfer_cost), computed, one.node});
  }

  even_costs costs_;
  double root_deadline_;
  std::vector<double> deadlines_;  // ascending: when a rank, still unnamed, must have no more to do than to send
  deadline_slack slack_;           // of each deadline: nodes that meet it, less the ranks that have an earlier one
  std::vector<double> computed_;   // of each node
  std::deque<candidate> root_{{0, 0, 0}};
  std::deque<candidate> again_;  // have received, may again; by `free`, as is
  std::deque<candidate> fresh_;  // have not received
  std::vector<tree_edge> receptions_;
};

}  // namespace

tree arrival_tree(std::span<const double> arrivals, int root, double transfer, double compute) {
  const int ranks = static_cast<int>(arrivals.size());
  check_rank(ranks, root, "root");
  std::vector<rank_costs> each;
  for (const double arrival : arrivals) each.push_back({arrival, transfer, compute});
  check_costs(each);
  std::vector<int> latest_first;
  for (int rank = 0; rank < ranks; ++rank)
    if (rank != root) latest_first.push_back(rank);
  std::stable_sort(latest_first.begin(), latest_first.end(), [&](int a, int b) {
    return arrivals[static_cast<std::size_t>(a)] > arrivals[static_cast<std::size_t>(b)];
  });
  const double last = *std::max_element(arrivals.begin(), arrivals.end());
  const double shortest = timing(greedy_tree(ranks, root, transfer, compute), transfer, compute).length;
  auto receptions =
      earliest_end(std::max(last, shortest), last + shortest, [&](double end) -> std::optional<std::vector<tree_edge>> {
        attempt at(arrivals, latest_first, root, {transfer, compute}, end);
        if (!at.run()) return std::nullopt;
        return at.named(latest_first, root);
      });
  return in_order_of_readiness(tree(ranks, root, receptions.value()), uneven_costs{each});
}

}  // namespace weft::schedules
