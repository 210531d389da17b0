// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <utility>
#include <vector>
#include <weft/schedules/uneven_tree.hpp>

#include "arguments.hpp"
#include "bisection.hpp"
#include "done_times.hpp"
#include "reduction_run.hpp"

namespace weft::schedules {
namespace {

/// A time before the end: as long as so many transfers and combines.
struct moment {
  int transfers = 0;
  int computes = 0;
  friend moment operator+(moment a, moment b) { return {a.transfers + b.transfers, a.computes + b.computes}; }
};
constexpr moment transfer{1, 0}, combine{0, 1};

/// Nodes that are alike, of which a tree has many: what is decided for one is for all.
struct group {
  moment free;      ///< s of the paper: the soonest time at which they can compute for the next transfer
  moment computed;  ///< when they have computed for all so far: early, since operands may wait for the combine
  int count = 0;
};

/// Some nodes of a group receive from as many new ones.
struct reception {
  int by = 0;
  int count = 0;
  int again = 0;  ///< the group that they are of from then on
  int fresh = 0;  ///< that of the new ones
};

/// Arrivals of the ranks but the root, and which they are, those that arrive last first.
struct arriving_ranks {
  std::vector<int> latest_first;
  std::vector<double> arrivals;
  double root_arrival = 0;
};

/// One try to end at `end`, time running backwards from there. Group 0 is the root.
class attempt {
 public:
  attempt(const arriving_ranks& ranks, const even_costs& costs, double end)
      : costs_(costs),
        nodes_(static_cast<int>(ranks.arrivals.size())),
        root_arrival_(ranks.root_arrival),
        root_deadline_(end - ranks.root_arrival),
        done_(ranks.arrivals, end) {
    groups_[0].count = 1;
  }

  /// When the tree ends, soonest; infinity when not every node could hang itself below another in time.
  double run() {
    while (hung_ < nodes_) {
      const bool root =
          root_may_receive() && (waiting_.empty() || time(groups_[0].free) <= waiting_.begin()->first.first);
      if (!root && waiting_.empty()) return std::numeric_limits<double>::infinity();
      const int by = root ? 0 : waiting_.extract(waiting_.begin()).mapped();
      const double next_sent = time(groups_[at(by)].free + combine + transfer);
      if (done_.gone_by(next_sent) > hung_) return std::numeric_limits<double>::infinity();
      const int many = static_cast<int>(std::min<long>(nodes_ - hung_, may_receive(groups_[at(by)], root)));
      if (many > 0) receive(by, many);
    }
    return std::max(done_.reached(), time(groups_[0].computed) + root_arrival_);
  }

  /// The tree's edges: the less time a node leaves, the earlier the rank arrives.
  std::vector<tree_edge> edges(const std::vector<int>& latest_first, int root) const {
    node_lists nodes(groups_.size(), nodes_);
    std::vector<tree_edge> all;
    all.reserve(latest_first.size());
    for (const reception& each : receptions_)
      for (int i = 0; i < each.count; ++i) {
        const int node = nodes.take(each.by), added = static_cast<int>(all.size()) + 1;
        nodes.put(each.again, node);
        nodes.put(each.fresh, added);
        all.push_back({added, node});
      }
    const std::vector<int> name = names(nodes, latest_first, root);
    for (tree_edge& edge : all) edge = {name[at(edge.from)], name[at(edge.to)]};
    return all;
  }

 private:
  /// The nodes of each group, in the order in which they came. Nodes are called by when they were added, 0 the root.
  class node_lists {
   public:
    node_lists(std::size_t groups, int nodes) : first_(groups, -1), last_(groups, -1), next_(at(nodes) + 1, -1) {
      put(0, 0);
    }
    int first(int group) const { return first_[at(group)]; }
    int next(int node) const { return next_[at(node)]; }
    int take(int group) { return std::exchange(first_[at(group)], next(first(group))); }
    void put(int group, int node) {
      next_[at(node)] = -1;
      (first(group) == -1 ? first_[at(group)] : next_[at(last_[at(group)])]) = node;
      last_[at(group)] = node;
    }

   private:
    std::vector<int> first_, last_, next_;
  };

  static std::size_t at(int number) { return static_cast<std::size_t>(number); }
  double time(moment when) const { return when.transfers * costs_.transfer_cost + when.computes * costs_.compute_cost; }
  bool root_may_receive() const { return time(groups_[0].computed + combine) <= root_deadline_; }

  /// How many of a group enough other nodes stand in for at the deadlines that they, receiving once more, would miss:
  /// these have gone by, and no new node meets them.
  long may_receive(const group& some, bool root) const {
    if (root) return 1;
    return std::min<long>(some.count, done_.spare(time(some.computed), time(some.computed + combine)));
  }

  void receive(int by, int many) {
    const group before = groups_[at(by)];
    const moment computed = before.computed + combine, sent = before.free + combine + transfer;
    const moment free = before.free + (costs_.transfer_cost < costs_.compute_cost ? combine : transfer);
    done_.add(time(sent), many);
    const int fresh = join(sent, sent, many);
    int again = 0;
    if (by == 0) {
      groups_[0] = {free, computed, 1};
    } else {
      done_.move(time(before.computed), time(computed), many);
      again = join(free, computed, many);
    }
    receptions_.push_back({by, many, again, fresh});
    hung_ += many;
  }

  /// The group of nodes with these times that wait to receive, `many` more of them.
  int join(moment free, moment computed, int many) {
    const auto [known, added] =
        waiting_.emplace(std::pair(time(free), time(computed)), static_cast<int>(groups_.size()));
    if (added) groups_.push_back({free, computed, 0});
    groups_[at(known->second)].count += many;
    return known->second;
  }

  std::vector<int> names(const node_lists& nodes, const std::vector<int>& latest_first, int root) const {
    std::vector<int> soonest_first(groups_.size() - 1);
    std::iota(soonest_first.begin(), soonest_first.end(), 1);
    std::stable_sort(soonest_first.begin(), soonest_first.end(),
                     [&](int a, int b) { return time(groups_[at(a)].computed) < time(groups_[at(b)].computed); });
    std::vector<int> name(at(nodes_) + 1, root);
    auto next = latest_first.begin();
    for (const int some : soonest_first)
      for (int node = nodes.first(some); node != -1; node = nodes.next(node)) name[at(node)] = *next++;
    return name;
  }

  even_costs costs_;
  int nodes_, hung_ = 0;  // but for the root
  double root_arrival_, root_deadline_;
  done_times done_;
  std::vector<group> groups_{1};
  std::map<std::pair<double, double>, int> waiting_;  // groups by their times
  std::vector<reception> receptions_;
};

arriving_ranks sorted(std::span<const double> arrivals, int root) {
  arriving_ranks ranks;
  for (int rank = 0; rank < static_cast<int>(arrivals.size()); ++rank)
    if (rank != root) ranks.latest_first.push_back(rank);
  std::stable_sort(ranks.latest_first.begin(), ranks.latest_first.end(), [&](int a, int b) {
    return arrivals[static_cast<std::size_t>(a)] > arrivals[static_cast<std::size_t>(b)];
  });
  for (const int rank : ranks.latest_first) ranks.arrivals.push_back(arrivals[static_cast<std::size_t>(rank)]);
  ranks.root_arrival = arrivals[static_cast<std::size_t>(root)];
  return ranks;
}

}  // namespace

tree arrival_tree(std::span<const double> arrivals, int root, double transfer, double compute) {
  const int ranks = static_cast<int>(arrivals.size());
  check_rank(ranks, root, "root");
  std::vector<rank_costs> each;
  for (const double arrival : arrivals) each.push_back({arrival, transfer, compute});
  check_costs(each);
  const arriving_ranks arriving = sorted(arrivals, root);
  const even_costs costs{transfer, compute};
  constexpr double whenever = std::numeric_limits<double>::infinity();
  attempt best(arriving, costs, whenever);
  double sooner = best.run();
  earliest_end(*std::max_element(arrivals.begin(), arrivals.end()), sooner, [&](double end) {
    attempt next(arriving, costs, end);
    const double reached = next.run();
    if (reached < sooner) {
      sooner = reached;
      best = std::move(next);
    }
    return reached;
  });
  return in_order_of_readiness(tree(ranks, root, best.edges(arriving.latest_first, root)), uneven_costs{each});
}

}  // namespace weft::schedules
