// SPDX-License-Identifier: Apache-2.0
// Critical paths, of jobs too whose activities are too many to be kept.
#include <algorithm>
#include <limits>
#include <optional>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>
#include <weft/simulator/timeline.hpp>

namespace weft::simulator {
namespace {

/// A critical path, activity after activity.
class path_builder {
 public:
  explicit path_builder(std::uint64_t length) { path_.length = length; }

  /// The next one.
  void append(const activity& next) {
    if (before_) take(*before_, std::min(before_->end, next.start));
    before_ = next;
    const std::uint64_t place = appended_++;
    if (place < most_path_kept / 2 || place + most_path_kept / 2 >= path_.length) path_.activities.push_back(next);
  }

  critical_path finish(double completion) && {
    if (before_) take(*before_, before_->end);
    path_.other += completion - reached_;
    return std::move(path_);
  }

 private:
  void take(const activity& a, double end) {
    path_.time_of[static_cast<std::size_t>(a.kind)] += end - a.start;
    path_.other += a.start - reached_;
    reached_ = end;
  }

  critical_path path_;
  std::optional<activity> before_;  ///< which ends no later than the next one begins
  std::uint64_t appended_ = 0;
  double reached_ = 0;
};

constexpr std::uint32_t nothing = std::numeric_limits<std::uint32_t>::max();

/// Each activity's cause.
class cause_table final : public observer {
 public:
  explicit cause_table(std::uint64_t steps) : causes_(2 * steps, nothing) {}

  bool wants(activity_id what, activity_id cause) override {
    causes_[what] = cause == no_activity ? nothing : static_cast<std::uint32_t>(cause);
    return false;
  }
  void happened(const activity&) override {}

  std::vector<std::uint32_t> path_to(activity_id last) const {
    std::vector<std::uint32_t> path;
    for (auto next = last == no_activity ? nothing : static_cast<std::uint32_t>(last); next != nothing;
         next = causes_[next])
      path.push_back(next);
    std::reverse(path.begin(), path.end());
    return path;
  }

 private:
  std::vector<std::uint32_t> causes_;
};

/// Takes those on the path. They come in its order, but for some whose ends are known early.
class path_watcher final : public observer {
 public:
  path_watcher(std::vector<std::uint32_t> path, std::uint64_t steps)
      : path_(std::move(path)), on_path_(2 * steps), built_(path_.size()) {
    for (const std::uint32_t each : path_) on_path_[each] = true;
  }

  bool wants(activity_id what, activity_id /*cause*/) override { return on_path_[what]; }

  void happened(const activity& what) override {
    if (path_[next_] != what.id) {
      early_.emplace(what.id, what);
      return;
    }
    append(what);
    while (!early_.empty() && next_ < path_.size()) {
      const auto found = early_.find(path_[next_]);
      if (found == early_.end()) return;
      append(found->second);
      early_.erase(found);
    }
  }

  critical_path finish(double completion) && { return std::move(built_).finish(completion); }

 private:
  void append(const activity& what) {
    built_.append(what);
    ++next_;
  }

  std::vector<std::uint32_t> path_;
  std::vector<bool> on_path_;
  path_builder built_;
  std::size_t next_ = 0;
  std::unordered_map<activity_id, activity> early_;
};

/// Those that `simulate` goes through on the way to its completion.
std::vector<std::uint32_t> path_of(const workload& all, const machine_model& model, const network* links) {
  cause_table causes(all.steps());
  return causes.path_to(simulate(all, model, links, &causes).last);
}

}  // namespace

critical_path critical_path_of(const simulation& done, const timeline& seen) {
  std::unordered_map<activity_id, const activity*> by_id;
  by_id.reserve(seen.activities().size());
  for (const activity& a : seen.activities()) by_id.emplace(a.id, &a);
  std::vector<const activity*> backwards;
  for (activity_id next = done.last; next != no_activity; next = backwards.back()->cause)
    backwards.push_back(by_id.at(next));
  path_builder path(backwards.size());
  std::for_each(backwards.rbegin(), backwards.rend(), [&](const activity* a) { path.append(*a); });
  return std::move(path).finish(done.completion);
}

explained_simulation simulate_with_path(const workload& all, const machine_model& model, const network* links) {
  if (all.steps() >= nothing / 2) throw std::length_error("the critical path of 2^31 steps or more is not searched");
  path_watcher path(path_of(all, model, links), all.steps());
  explained_simulation both;
  both.done = simulate(all, model, links, &path);
  both.path = std::move(path).finish(both.done.completion);
  return both;
}

}  // namespace weft::simulator
