// SPDX-License-Identifier: Apache-2.0
// What a message that came says of itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <weft/operators.hpp>
#include <weft/type.hpp>

namespace weft {

/// From any rank of the communicator; with any tag.
inline constexpr int any_source = -1;
inline constexpr int any_tag = -1;

/// Of a message: 2^62 - 1, so that a tag has room for the parts of whatever it stands for.
inline constexpr std::int64_t largest_tag = (std::int64_t{1} << 62) - 1;

/// What a receive or a probe found.
struct status {
  int source = any_source;
  std::int64_t tag = any_tag;
  std::size_t bytes = 0;
  /// Whole elements of type T in the message.
  template <carriable T>
  std::size_t count() const noexcept {
    return bytes / sizeof(T);
  }
  std::size_t count(const type& of) const noexcept { return bytes / of.bytes(); }
};

}  // namespace weft
