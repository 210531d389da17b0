// SPDX-License-Identifier: Apache-2.0
// What a value is combined of: the ranks that contributed, in order, as runs of consecutive ones.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace weft::schedules {

/// Ranks first, first + 1, ... first + count - 1.
struct rank_run {
  int first = 0;
  int count = 0;
  int end() const { return first + count; }
  friend bool operator==(const rank_run&, const rank_run&) = default;
};

/// No run begins where the one before it ends: the same ranks in the same order are the same runs.
using contributions = std::vector<rank_run>;

inline void append(contributions& to, rank_run more) {
  if (more.count == 0) return;
  if (!to.empty() && to.back().end() == more.first)
    to.back().count += more.count;
  else
    to.push_back(more);
}

/// In the order of the ranks.
inline contributions sorted(std::span<const rank_run> of) {
  contributions runs(of.begin(), of.end());
  std::ranges::sort(runs, {}, &rank_run::first);
  contributions joined;
  for (const rank_run each : runs) append(joined, each);
  return joined;
}

/// The lowest rank that is in `of`, which is sorted, twice.
inline std::optional<int> first_twice(const contributions& of) {
  int end = 0;
  for (const rank_run each : of) {
    if (each.first < end) return each.first;
    end = std::max(end, each.end());
  }
  return std::nullopt;
}

/// The lowest rank that only one of two has, which are sorted and have none twice.
inline std::optional<int> first_differing(const contributions& a, const contributions& b) {
  const std::size_t both = std::min(a.size(), b.size());
  for (std::size_t i = 0; i < both; ++i) {
    if (a[i].first != b[i].first) return std::min(a[i].first, b[i].first);
    if (a[i].count != b[i].count) return std::min(a[i].end(), b[i].end());
  }
  if (a.size() == b.size()) return std::nullopt;
  return (a.size() > both ? a : b)[both].first;
}

inline bool has(const contributions& of, int rank) {
  return std::ranges::any_of(of, [&](const rank_run& each) { return rank >= each.first && rank < each.end(); });
}

using value_number = std::uint32_t;

/// Values, each a number's.
class value_table {
 public:
  value_number add(std::span<const rank_run> what) {
    runs_.insert(runs_.end(), what.begin(), what.end());
    end_.push_back(runs_.size());
    return static_cast<value_number>(end_.size() - 1);
  }
  std::span<const rank_run> operator[](value_number which) const {
    const std::size_t first = which == 0 ? 0 : end_[which - 1];
    return {runs_.data() + first, end_[which] - first};
  }
  value_number size() const { return static_cast<value_number>(end_.size()); }

 private:
  std::vector<rank_run> runs_;
  std::vector<std::size_t> end_;  // of each value, in runs_
};

}  // namespace weft::schedules
