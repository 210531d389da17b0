// How many of a set of deadlines can still be given away.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace weft::schedules {

/// Numbers 0, -1, -2, ... to which ranges are added to and of which ranges' least is asked: a segment tree. O(log n).
class deadline_slack {
 public:
  explicit deadline_slack(std::size_t deadlines) {
    while (leaves_ < deadlines) leaves_ *= 2;
    least_.resize(2 * leaves_);
    added_.resize(2 * leaves_);
    for (std::size_t i = 0; i < leaves_; ++i) least_[leaves_ + i] = -static_cast<long>(i);
    for (std::size_t node = leaves_ - 1; node > 0; --node)
      least_[node] = std::min(least_[2 * node], least_[2 * node + 1]);
  }

  /// Adds to numbers first to last - 1.
  void add(std::size_t first, std::size_t last, int amount) { add(1, 0, leaves_, first, last, amount); }
  /// The least of numbers first to last - 1, of which there is one.
  long least(std::size_t first, std::size_t last) const { return least(1, 0, leaves_, first, last); }

 private:
  void add(std::size_t node, std::size_t from, std::size_t to, std::size_t first, std::size_t last, int amount) {
    if (last <= from || to <= first) return;
    if (first <= from && to <= last) {
      least_[node] += amount;
      added_[node] += amount;
      return;
    }
    const std::size_t middle = (from + to) / 2;
    add(2 * node, from, middle, first, last, amount);
    add(2 * node + 1, middle, to, first, last, amount);
    least_[node] = std::min(least_[2 * node], least_[2 * node + 1]) + added_[node];
  }

  long least(std::size_t node, std::size_t from, std::size_t to, std::size_t first, std::size_t last) const {
    if (first <= from && to <= last) return least_[node];
    const std::size_t middle = (from + to) / 2;
    if (last <= middle) return least(2 * node, from, middle, first, last) + added_[node];
    if (middle <= first) return least(2 * node + 1, middle, to, first, last) + added_[node];
    return std::min(least(2 * node, from, middle, first, last), least(2 * node + 1, middle, to, first, last)) +
           added_[node];
  }

  std::size_t leaves_ = 1;
  std::vector<long> least_;  // of the numbers below each node, with what was added to the node and below
  std::vector<long> added_;  // to everything below each node
};

}  // namespace weft::schedules
