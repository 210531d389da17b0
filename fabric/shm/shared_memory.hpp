// SPDX-License-Identifier: Apache-2.0
// Memory that processes of one node share: without a name, of a size that never changes, and reserved before it is
// used.
#pragma once

#include <cstddef>
#include <weft/runtime/socket.hpp>

namespace weft::fabric {

/// A memfd of `size` bytes, a multiple of the page, that can neither shrink nor grow any more, so that nobody who has
/// mapped it is ever killed by SIGBUS for its size. It vanishes with the last process that holds it. No page of it is
/// reserved. Throws a system error, EFBIG where the process may not make files that long (RLIMIT_FSIZE).
file_descriptor make_shared_memory(std::size_t size);

/// Takes pages for `size` bytes from `offset` on, on the NUMA node of the calling thread, so that no access to them can
/// fail later. Throws a system error where the memory is not to be had.
void reserve_shared_memory(const file_descriptor& memory, std::size_t offset, std::size_t size);

/// Throws errc::protocol unless `memory` is what `make_shared_memory(size)` makes: another process says so.
void check_shared_memory(const file_descriptor& memory, std::size_t size);

/// A shared, writable mapping.
class mapping {
 public:
  mapping() noexcept = default;
  /// `size` bytes of `memory`, which may be closed afterwards, from `offset` on, a multiple of the page. Throws a
  /// system error.
  mapping(const file_descriptor& memory, std::size_t offset, std::size_t size);
  mapping(mapping&& other) noexcept;
  mapping& operator=(mapping&& other) noexcept;
  ~mapping();

  /// Leaves everything out of core dumps but `size` bytes from `offset` on, both multiples of the page: a dump would
  /// make the pages that are not there.
  void dump_only(std::size_t offset, std::size_t size) const noexcept;

  std::byte* data() const noexcept { return begin_; }
  std::size_t size() const noexcept { return size_; }

 private:
  std::byte* begin_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace weft::fabric
