// Where blocks lie in a vector.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace weft::detail {

/// One after another, by rank: in bytes.
class block_places {
 public:
  /// All of `each` bytes.
  explicit block_places(std::size_t each) : each_(each) {}
  block_places(std::span<const std::size_t> counts, std::size_t element_bytes) : begins_(counts.size() + 1) {
    for (std::size_t i = 0; i < counts.size(); ++i) begins_[i + 1] = begins_[i] + counts[i] * element_bytes;
  }

  /// Of the block of `rank`; that of the rank behind the last is the end.
  std::size_t begin(int rank) const {
    return begins_.empty() ? each_ * static_cast<std::size_t>(rank) : begins_[static_cast<std::size_t>(rank)];
  }
  std::size_t bytes_of(int rank) const { return begin(rank + 1) - begin(rank); }

 private:
  std::size_t each_ = 0;
  std::vector<std::size_t> begins_;  // none where all are alike
};

}  // namespace weft::detail
