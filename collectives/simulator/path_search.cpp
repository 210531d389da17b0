// SPDX-License-Identifier: Apache-2.0
// Critical paths of jobs whose activities are too many to be kept.
#include <algorithm>
#include <limits>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>
#include <weft/simulator/timeline.hpp>

#include "path_builder.hpp"

namespace weft::simulator {
namespace {

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

explained_simulation simulate_with_path(const workload& all, const machine_model& model, const network* links) {
  if (all.steps() >= nothing / 2) throw std::length_error("the critical path of 2^31 steps or more is not searched");
  path_watcher path(path_of(all, model, links), all.steps());
  explained_simulation both;
  both.done = simulate(all, model, links, &path);
  both.path = std::move(path).finish(both.done.completion);
  return both;
}

}  // namespace weft::simulator
