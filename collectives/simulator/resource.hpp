// SPDX-License-Identifier: Apache-2.0
// A CPU or a port: one user at a time.
#pragma once

#include <algorithm>
#include <tuple>
#include <vector>
#include <weft/simulator/simulate.hpp>

namespace weft::simulator {

struct request {
  double time;        ///< since when it waits
  double sent;        ///< of a message at the receiver's port: when its first byte left
  activity_id cause;  ///< what it follows from, did it not have to wait
  step_index step;    ///< of the resource's rank
};

/// Gives the resource to whoever has waited longest; to the earlier step where that is equal.
class resource {
 public:
  double free_at = 0;              ///< infinity: not known yet
  activity_id last = no_activity;  ///< its last use
  bool listed = false;             ///< for arbitration
  bool waking = false;             ///< an event will come at `free_at`

  bool wanted() const noexcept { return !waiting_.empty(); }
  void want(const request& by) {
    waiting_.push_back(by);
    if (waiting_.size() > 1) std::push_heap(waiting_.begin(), waiting_.end(), later);
  }
  request take_next() {
    if (waiting_.size() > 1) std::pop_heap(waiting_.begin(), waiting_.end(), later);
    const request next = waiting_.back();
    waiting_.pop_back();
    return next;
  }

 private:
  static bool later(const request& a, const request& b) { return std::tie(a.time, a.step) > std::tie(b.time, b.step); }

  std::vector<request> waiting_;  // a heap
};

}  // namespace weft::simulator
