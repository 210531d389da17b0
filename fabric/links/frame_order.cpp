// SPDX-License-Identifier: Apache-2.0
#include "frame_order.hpp"

#include <utility>

namespace weft::fabric {

bool frame_order::takes(std::uint32_t sequence, std::span<const std::byte> frame) {
  if (sequence == expected_) [[likely]] {
    ++expected_;
    return true;
  }
  if (sequence - expected_ < window) early_.try_emplace(sequence, frame.begin(), frame.end());
  return false;
}

bool frame_order::next(std::vector<std::byte>& frame) {
  if (early_.empty() || early_.begin()->first != expected_) return false;
  frame = std::move(early_.begin()->second);
  early_.erase(early_.begin());
  ++expected_;
  return true;
}

}  // namespace weft::fabric
