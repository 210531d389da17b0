// SPDX-License-Identifier: Apache-2.0
// An operator that does not commute.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <weft/operators.hpp>

namespace weft_test {

/// x -> factor * x + offset; one after another is associative and does not commute.
struct affine {
  std::uint64_t factor = 1, offset = 0;
  friend bool operator==(const affine&, const affine&) = default;
};
inline std::ostream& operator<<(std::ostream& to, const affine& map) {
  return to << map.factor << " x + " << map.offset;
}
inline affine of_rank(int world_rank, std::size_t i) {
  return {2 * static_cast<std::uint64_t>(world_rank) + 3, static_cast<std::uint64_t>(world_rank) * 17 + i};
}
inline affine after(const affine& first, const affine& second) {
  return {first.factor * second.factor, first.offset * second.factor + second.offset};
}
inline const auto in_order = weft::make_operator<affine>(
    [](const affine* in, affine* inout, std::size_t n) {
      for (std::size_t i = 0; i < n; ++i) inout[i] = after(in[i], inout[i]);
    },
    weft::does_not_commute);

}  // namespace weft_test
