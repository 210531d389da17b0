// SPDX-License-Identifier: Apache-2.0
// Where in memory of a fixed size each round's slot lies, so that short ones are many and long ones few.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace weft::fabric {

/// One slot behind the other, from the beginning again where the end has no room. Every process of a communicator has
/// one, takes the same slots in the same rounds, and so knows where the others' are.
class slot_ring {
 public:
  static constexpr std::size_t cells = 64;

  /// Of `bytes` bytes, a multiple of the number of cells.
  explicit slot_ring(std::size_t bytes) noexcept : cell_bytes_(bytes / cells) {}

  struct place {
    std::size_t offset = 0;
    std::uint32_t needed = 0;  ///< the round that all must be in before it is written
  };

  /// Takes a slot of 1 byte or more for `round`, and no more than a third of the memory: then it never lies where that
  /// of the round before does, which others need not have read. Rounds wrap.
  place take(std::size_t bytes, std::uint32_t round) noexcept {
    const std::size_t wanted = (bytes + cell_bytes_ - 1) / cell_bytes_;
    const std::size_t first = next_ + wanted <= cells ? next_ : 0;
    next_ = first + wanted;
    place taken{first * cell_bytes_, free_in_[first]};
    for (std::size_t i = first; i < next_; ++i) {
      if (static_cast<std::int32_t>(free_in_[i] - taken.needed) > 0) taken.needed = free_in_[i];
      // Who is in the next round has ended this one, and reads what was written in it no more.
      free_in_[i] = round + 1;
    }
    return taken;
  }

 private:
  std::size_t cell_bytes_;
  std::size_t next_ = 0;
  std::array<std::uint32_t, cells> free_in_{};  // the round of all others from which on each may be written again
};

}  // namespace weft::fabric
