// SPDX-License-Identifier: Apache-2.0
// Which steps have ended when others begin.
#pragma once

#include "job.hpp"

namespace weft::schedules {

/// What an end proves about other steps in every execution, buffered or not: that what the step depended on had ended,
/// and, for a receive, that what its send depended on had.
class causality {
 public:
  causality(const job& all, std::span<const step_event> order)
      : all_(all), end_(all.steps()), seen_by_(all.steps(), 0) {
    for (std::size_t i = 0; i < order.size(); ++i)
      if (order[i].end) end_[order[i].step] = i;
  }

  std::size_t end(job_step s) const { return end_[s]; }  ///< its place in an order that can happen

  /// Whether `a` has ended whenever `b` begins.
  bool ends_before_begin(job_step a, job_step b) {
    begin_search(a);
    all_.for_each_before(b, [this](job_step s) { add(s); });
    return search();
  }

  /// Whether it has whenever all steps of `rank` have ended.
  bool ends_before_end_of(job_step a, int rank) {
    begin_search(a);
    for (step_index i = 0; i < all_.of(rank).steps.size(); ++i) add(all_.number(rank, i));
    return search();
  }

 private:
  void begin_search(job_step a) {
    sought_ = a;
    found_ = false;
    ++search_;
    ended_.clear();
  }
  /// It has ended. What ends before the step sought can prove nothing about that.
  void add(job_step s) {
    found_ = found_ || s == sought_;
    if (seen_by_[s] == search_ || end_[s] <= end_[sought_]) return;
    seen_by_[s] = search_;
    ended_.push_back(s);
  }
  /// Backwards from what has been added, nearest first: most orders are a dependency or two long.
  bool search() {
    for (std::size_t i = 0; !found_ && i < ended_.size(); ++i) {
      const job_step s = ended_[i];
      all_.for_each_before(s, [this](job_step before) { add(before); });
      if (is_incoming(all_.at(s).kind)) all_.for_each_before(all_.partner(s), [this](job_step before) { add(before); });
    }
    return found_;
  }

  const job& all_;
  std::vector<std::size_t> end_;
  std::vector<std::size_t> seen_by_;  // of each step: the last search that came by
  std::size_t search_ = 0;
  std::vector<job_step> ended_;  // what the current search has reached
  job_step sought_ = 0;
  bool found_ = false;
};

}  // namespace weft::schedules
