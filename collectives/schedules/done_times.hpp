// SPDX-License-Identifier: Apache-2.0
// When the nodes of a tree will have nothing more to do than to send, beside the times at which ranks must.
#pragma once

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <span>

namespace weft::schedules {

/// Time runs backwards from `end`. A rank's deadline is its arrival; a node can be a rank that has its deadline when
/// the node is done or later. The nodes can be the ranks when for each deadline as many nodes are done by it as ranks
/// have it or an earlier one. Nodes that are done at one time are counted together: O(times) memory.
class done_times {
 public:
  /// `latest_first`: the arrivals of all ranks that nodes can be, descending.
  done_times(std::span<const double> latest_first, double end) : arrivals_(latest_first), end_(end) {}

  /// How many ranks have a deadline before `time`.
  long gone_by(double time) const {
    const auto first =
        std::partition_point(arrivals_.begin(), arrivals_.end(), [&](double arrival) { return end_ - arrival < time; });
    return static_cast<long>(first - arrivals_.begin());
  }

  void add(double time, long nodes) {
    for (auto one = at(time); one != by_.end(); ++one) one->second += nodes;
  }

  /// How many nodes done at `time` may be done later, at `later`, so that enough nodes are left for the deadlines
  /// between. No end of them where there is no such deadline.
  long spare(double time, double later) const {
    long least = std::numeric_limits<long>::max();
    for (auto one = by_.find(time); one != by_.end() && one->first < later; ++one) {
      const auto next = std::next(one);
      const long needed = gone_by(next == by_.end() ? later : std::min(later, next->first));
      if (needed > gone_by(one->first)) least = std::min(least, one->second - needed);
    }
    return least;
  }

  void move(double time, double later, long nodes) {
    const auto end = at(later);
    for (auto one = by_.find(time); one != end; ++one) one->second -= nodes;
  }

  /// The least end by which these nodes could be these ranks, those that are done last the ones that arrive first.
  double reached() const {
    double last = 0;
    long before = 0;
    for (const auto& [time, by_then] : by_) {
      if (by_then > before) last = std::max(last, time + arrivals_[static_cast<std::size_t>(before)]);
      before = by_then;
    }
    return last;
  }

 private:
  std::map<double, long>::iterator at(double time) {
    const auto next = by_.lower_bound(time);
    if (next != by_.end() && next->first == time) return next;
    return by_.emplace_hint(next, time, next == by_.begin() ? 0 : std::prev(next)->second);
  }

  std::span<const double> arrivals_;
  double end_;
  std::map<double, long> by_;  // how many nodes are done by a time
};

}  // namespace weft::schedules
