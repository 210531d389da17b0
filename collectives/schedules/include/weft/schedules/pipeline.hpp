// SPDX-License-Identifier: Apache-2.0
// How a builder overlaps transfers and computations.
#pragma once

#include <cstdint>

namespace weft::schedules {

struct pipeline {
  std::uint32_t segments = 1;  ///< parts in which a chunk travels, at least 1
  /// Receives posted ahead of the combines (or of the forwarding) that use them, at least 1: scratch holds so many
  /// segments. From 2 on, the combine of one segment overlaps the transfer of the next.
  std::uint32_t window = 4;
};

}  // namespace weft::schedules
