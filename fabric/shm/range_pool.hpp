// SPDX-License-Identifier: Apache-2.0
// Which parts of a range are free.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace weft::fabric {

/// Takes pieces of [0, size) and gets them back: the shortest free range that has room (best fit), at its beginning,
/// the lowest of several. Neighbours that are free are one range. What lies there is not touched. For one thread at a
/// time.
class range_pool {
 public:
  struct range {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    std::uint64_t end() const noexcept { return offset + size; }
  };

  explicit range_pool(std::uint64_t size);

  /// The offset, a multiple of `alignment` (a power of two), of `size` bytes, at least 1; nothing where no free range
  /// has room. Throws std::bad_alloc, and has then taken nothing.
  std::optional<std::uint64_t> take(std::uint64_t size, std::uint64_t alignment);

  /// Frees what was taken; the free range that it is part of now. Where no neighbour of it is free it throws
  /// std::bad_alloc when memory is short: it then stays taken.
  range give_back(range taken);

 private:
  /// Throws std::bad_alloc, and has then inserted nothing.
  void insert(range free);
  void erase(range free) noexcept;
  /// Puts one range in the place of another, in whose memory it is remembered.
  void replace(range was, range now) noexcept;

  std::map<std::uint64_t, std::uint64_t> free_;                // size by offset
  std::set<std::pair<std::uint64_t, std::uint64_t>> by_size_;  // size, offset
};

}  // namespace weft::fabric
