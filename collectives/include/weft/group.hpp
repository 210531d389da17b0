// SPDX-License-Identifier: Apache-2.0
// Groups of ranks: sets to compute with, from which communicators are made.
//
//   const weft::group all(world.members()), others = difference(all, weft::group(node.members()));
//   if (others.rank_of(me)) auto made = world.create(others.ranks_in(all));
#pragma once

#include <weft/api.h>

#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace weft {

/// An ordered set of ranks of the job. A value: to make or combine some asks no other rank, and takes n log n steps.
class WEFT_API group {
 public:
  /// Nobody.
  group() = default;
  /// These ranks of the job, in this order (communicator::members). Throws errc::invalid_rank where one is negative
  /// or is there twice.
  explicit group(std::span<const int> ranks);

  int size() const noexcept { return static_cast<int>(members_.size()); }
  /// The rank in the job of each member, by its rank here. Valid as long as this.
  std::span<const int> members() const noexcept { return members_; }
  /// The rank here of that rank of the job; none where it is no member.
  std::optional<int> rank_of(int job_rank) const noexcept;
  /// Of each member its rank in `other`, -1 where it is no member of that.
  std::vector<int> ranks_in(const group& other) const;
  /// The same of the members that have these ranks here. Throws errc::invalid_rank where nobody has one.
  std::vector<int> translate(std::span<const int> ranks, const group& other) const;

  /// The same members in the same order.
  friend bool operator==(const group& one, const group& other) noexcept { return one.members_ == other.members_; }

 private:
  std::vector<int> members_;
  std::vector<std::pair<int, int>> sorted_;  // rank of the job, and here
};

/// Those of the first in its order, and behind them those of the second alone in its order.
WEFT_API group unite(const group& first, const group& second);
/// Those of the first that are in the second, too, in the order of the first.
WEFT_API group intersection(const group& first, const group& second);
/// Those of the first that are not in the second, in the order of the first.
WEFT_API group difference(const group& first, const group& second);

}  // namespace weft
