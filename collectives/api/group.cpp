// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <weft/group.hpp>
#include <weft/runtime/error.hpp>

namespace weft {
namespace {

/// Those members of `all` that are in `other`, or those that are not.
std::vector<int> members_of(const group& all, const group& other, bool in_other) {
  std::vector<int> chosen;
  for (const int each : all.members())
    if (other.rank_of(each).has_value() == in_other) chosen.push_back(each);
  return chosen;
}

}  // namespace

group::group(std::span<const int> ranks) : members_(ranks.begin(), ranks.end()) {
  for (int rank = 0; rank < size(); ++rank) sorted_.emplace_back(members_[static_cast<std::size_t>(rank)], rank);
  std::ranges::sort(sorted_);
  for (std::size_t i = 0; i < sorted_.size(); ++i) {
    const std::string its = "group: rank " + std::to_string(sorted_[i].first);
    if (sorted_[i].first < 0) throw error(errc::invalid_rank, its + " is none of a job: ranks begin at 0");
    if (i > 0 && sorted_[i - 1].first == sorted_[i].first)
      throw error(errc::invalid_rank, its + " is listed more than once");
  }
}

std::optional<int> group::rank_of(int job_rank) const noexcept {
  const auto found = std::ranges::lower_bound(sorted_, job_rank, {}, &std::pair<int, int>::first);
  if (found == sorted_.end() || found->first != job_rank) return std::nullopt;
  return found->second;
}

std::vector<int> group::ranks_in(const group& other) const {
  std::vector<int> ranks;
  for (const int each : members_) ranks.push_back(other.rank_of(each).value_or(-1));
  return ranks;
}

std::vector<int> group::translate(std::span<const int> ranks, const group& other) const {
  std::vector<int> translated;
  for (const int rank : ranks) {
    if (rank < 0 || rank >= size())
      throw error(errc::invalid_rank,
                  "group: nobody has rank " + std::to_string(rank) + " of a group of " + std::to_string(size()));
    translated.push_back(other.rank_of(members_[static_cast<std::size_t>(rank)]).value_or(-1));
  }
  return translated;
}

group unite(const group& first, const group& second) {
  std::vector<int> all(first.members().begin(), first.members().end());
  const std::vector<int> more = members_of(second, first, false);
  all.insert(all.end(), more.begin(), more.end());
  return group(all);
}

group intersection(const group& first, const group& second) { return group(members_of(first, second, true)); }

group difference(const group& first, const group& second) { return group(members_of(first, second, false)); }

}  // namespace weft
