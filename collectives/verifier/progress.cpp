// SPDX-License-Identifier: Apache-2.0
// Whether every step ends when nothing is buffered.
#include "job.hpp"

namespace weft::schedules {
namespace {

/// Kahn's algorithm on the begins and ends of all steps.
class progress_check {
 public:
  progress_check(const job& all, execution_order by)
      : all_(all), in_order_(by == execution_order::in_order), missing_(2 * all.steps()) {
    count_missing();
  }

  std::vector<step_event> run() {
    std::vector<step_event> order;
    order.reserve(missing_.size());
    for (job_step s = 0; s < all_.steps(); ++s)
      if (missing_[begin(s)] == 0) order.push_back({s, false});
    for (std::size_t i = 0; i < order.size(); ++i)
      for_each_next(order[i], [&](step_event next) {
        if (--missing_[event(next)] == 0) order.push_back(next);
      });
    if (order.size() != missing_.size()) report_stuck();
    return order;
  }

 private:
  static std::size_t begin(job_step s) { return std::size_t{2} * s; }
  static std::size_t event(step_event e) { return begin(e.step) + (e.end ? 1 : 0); }

  void count_missing() {
    first_dependent_.resize(all_.steps() + 1);
    for (job_step s = 0; s < all_.steps(); ++s)
      all_.for_each_before(s, [&](job_step before) { ++first_dependent_[before + 1]; });
    for (job_step s = 0; s < all_.steps(); ++s) first_dependent_[s + 1] += first_dependent_[s];
    dependents_.resize(first_dependent_.back());
    std::vector<std::size_t> next(first_dependent_.begin(), first_dependent_.end() - 1);
    for (job_step s = 0; s < all_.steps(); ++s)
      all_.for_each_before(s, [&](job_step before) { dependents_[next[before]++] = s; });
    for (job_step s = 0; s < all_.steps(); ++s)
      for (const bool end : {false, true}) for_each_next({s, end}, [&](step_event next) { ++missing_[event(next)]; });
  }

  /// What cannot happen before `e`.
  template <class Each>
  void for_each_next(step_event e, Each&& each) const {
    const job_step s = e.step;
    const bool local = is_local(all_.at(s).kind);
    if (e.end) {
      for (std::size_t i = first_dependent_[s]; i < first_dependent_[s + 1]; ++i)
        each(step_event{dependents_[i], false});
    } else {
      each(step_event{s, true});
      if (!local) each(step_event{all_.partner(s), true});
    }
    // In order, a step begins when the one before it has begun, or, where that one is local, ended.
    const bool followed = s + 1 < all_.steps() && all_.rank_of(s + 1) == all_.rank_of(s);
    if (in_order_ && followed && e.end == local) each(step_event{s + 1, false});
  }

  [[noreturn]] void report_stuck() const {
    for (job_step s = 0; s < all_.steps(); ++s)
      if (missing_[begin(s) + 1] != 0)
        fail(all_.rank_of(s), all_.index_of(s), all_.at(s),
             std::string(missing_[begin(s)] != 0 ? "never begins" : "never ends") + " without buffering, run " +
                 (in_order_ ? "in order" : "as dataflow") + ": ranks wait for one another in a circle");
    fail(-1, "no progress");
  }

  const job& all_;
  bool in_order_;
  std::vector<std::uint32_t> missing_;        // of each event: how many that must come first have not happened
  std::vector<job_step> dependents_;          // of step 0, of step 1, ...
  std::vector<std::size_t> first_dependent_;  // of each step, in dependents_; one more at the end
};

}  // namespace

std::vector<step_event> check_progress(const job& all, execution_order by) { return progress_check(all, by).run(); }

}  // namespace weft::schedules
