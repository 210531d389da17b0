// SPDX-License-Identifier: Apache-2.0
// The frames of one peer, put in order again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace weft::fabric {

class frame_order {
 public:
  /// So many frames may come before the one that is expected; the sender's credit allows fewer.
  static constexpr std::uint32_t window = 1 << 20;

  std::uint32_t expected() const noexcept { return expected_; }

  /// Whether the frame of that number is the one that is expected, which is then taken. An earlier one is dropped, a
  /// later one kept. Throws std::bad_alloc, as if it had not come.
  bool takes(std::uint32_t sequence, std::span<const std::byte> frame);
  /// Moves the next one of those that were kept to `frame` if it is expected now, and takes it.
  bool next(std::vector<std::byte>& frame);
  void clear() noexcept { early_.clear(); }

 private:
  struct before {
    bool operator()(std::uint32_t a, std::uint32_t b) const noexcept { return static_cast<std::int32_t>(a - b) < 0; }
  };
  std::uint32_t expected_ = 0;
  std::map<std::uint32_t, std::vector<std::byte>, before> early_;
};

}  // namespace weft::fabric
