// SPDX-License-Identifier: Apache-2.0
// Memory for what a rank keeps between the steps of a schedule.
#pragma once

#include <cstddef>

namespace weft::detail {

/// Begins on a page. Long ones are the system's own pages, not malloc's: they live long, among the program's own
/// vectors, which come and go, and holes between them would be too short for those. A program was seen to take 95 MB
/// so, and 68 without.
class scratch_memory {
 public:
  /// Throws std::bad_alloc.
  explicit scratch_memory(std::size_t bytes);
  ~scratch_memory();
  scratch_memory(const scratch_memory&) = delete;
  scratch_memory& operator=(const scratch_memory&) = delete;

  /// Null where it has no bytes.
  std::byte* get() const noexcept { return begin_; }
  /// What so many bytes take, of the heap or of the system.
  static std::size_t footprint(std::size_t bytes) noexcept;

 private:
  std::size_t bytes_;
  std::byte* begin_ = nullptr;
};

}  // namespace weft::detail
