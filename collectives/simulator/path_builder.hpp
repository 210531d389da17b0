// SPDX-License-Identifier: Apache-2.0
// A critical path, activity after activity.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <weft/simulator/timeline.hpp>

namespace weft::simulator {

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

}  // namespace weft::simulator
