// SPDX-License-Identifier: Apache-2.0
// Marks of the pieces that memory is divided into.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace weft::fabric {

using piece_marks = std::vector<bool>;

/// Sets those from `first` on, up to `behind`.
inline void mark_pieces(piece_marks& marks, std::size_t first, std::size_t behind, bool as) noexcept {
  std::fill(marks.begin() + static_cast<std::ptrdiff_t>(first), marks.begin() + static_cast<std::ptrdiff_t>(behind),
            as);
}

/// Calls `use(first, behind)` for each row of pieces in [begin, end) that are marked so, the longest there are. It may
/// mark these otherwise.
template <class Use>
void for_each_run(const piece_marks& marks, std::size_t begin, std::size_t end, bool marked, Use&& use) {
  for (std::size_t first = begin; first < end;) {
    std::size_t behind = first;
    while (behind < end && marks[behind] == marked) ++behind;
    if (behind != first) use(first, behind);
    first = std::max(behind, first + 1);
  }
}

}  // namespace weft::fabric
