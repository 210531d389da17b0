// SPDX-License-Identifier: Apache-2.0
// Where blocks lie in a vector.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace weft::detail {

/// One after another, by rank: in elements, or in bytes.
class block_places {
 public:
  /// All of `each`.
  void assign(std::size_t each) noexcept {
    each_ = each;
    begins_.clear();
  }
  /// Of these counts, `unit` times as many each.
  void assign(std::span<const std::size_t> counts, std::size_t unit) {
    begins_.assign(1, 0);
    for (const std::size_t count : counts) begins_.push_back(begins_.back() + count * unit);
  }

  /// Of the block of `rank`; that of the rank behind the last is the end.
  std::size_t begin(int rank) const {
    return begins_.empty() ? each_ * static_cast<std::size_t>(rank) : begins_[static_cast<std::size_t>(rank)];
  }
  std::size_t length(int rank) const { return begin(rank + 1) - begin(rank); }

 private:
  std::size_t each_ = 0;
  std::vector<std::size_t> begins_;  // none where all are alike
};

}  // namespace weft::detail
