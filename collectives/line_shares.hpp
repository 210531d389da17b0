// Shares of a vector that several combine.
#pragma once

#include <algorithm>
#include <cstddef>

namespace weft::detail {

/// The first element of share number `share` of `shares` of a vector of `count` elements; its end for `shares`. Shares
/// begin on cache lines, as far as the vector does.
inline std::size_t begin_of_share(std::size_t count, std::size_t element_bytes, std::size_t shares,
                                  std::size_t share) noexcept {
  const std::size_t line = std::max(64 / element_bytes, std::size_t{1});
  return share == shares ? count : count / shares * share / line * line;
}

}  // namespace weft::detail
