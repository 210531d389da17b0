// SPDX-License-Identifier: Apache-2.0
// Where the bytes of a buffer lie that are not in one piece.
#pragma once

#include <weft/api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace weft::detail {

/// Where the bytes of an element lie, in their order: in runs, and in loops over runs. Offsets are bytes from where the
/// element begins; they may be negative.
class WEFT_API layout {
 public:
  /// A run of so many bytes, 0 as well.
  static layout run(std::size_t bytes);
  /// `count` elements, each `stride` bytes behind the one before.
  static layout repeated(const layout& element, std::size_t count, std::ptrdiff_t stride);
  /// Adds an element that begins at `offset`, behind the bytes that there are.
  void add(const layout& element, std::ptrdiff_t offset);

  /// Of data.
  std::size_t bytes() const noexcept { return bytes_; }
  /// From the first byte that it has to behind the last.
  std::ptrdiff_t lowest() const noexcept { return lowest_; }
  std::ptrdiff_t end() const noexcept { return end_; }
  /// Whether it is one run from 0 on.
  bool is_run() const noexcept {
    return steps_.empty() || (steps_.size() == 1 && steps_[0].at == 0 && steps_[0].body == 0 && steps_[0].rounds == 1);
  }

  /// Copies `bytes` of the elements at `from`, which are `extent` bytes apart, one behind the other.
  void pack(std::byte* to, const std::byte* from, std::ptrdiff_t extent, std::size_t bytes) const noexcept;
  /// The inverse. The last element may be there in part.
  void unpack(std::byte* to, std::ptrdiff_t extent, const std::byte* from, std::size_t bytes) const noexcept;

 private:
  /// `rounds` runs, `stride` bytes apart, or as many rounds of the `body` steps that follow.
  struct step {
    std::ptrdiff_t at = 0;
    std::size_t bytes = 0;  ///< of a run
    std::size_t rounds = 1;
    std::ptrdiff_t stride = 0;
    std::size_t body = 0;
  };

  template <bool Packs>
  static void walk(std::span<const step> steps, std::byte*& packed, std::byte* lies, std::size_t& left) noexcept;
  template <bool Packs>
  void copy(std::byte* packed, std::byte* lies, std::ptrdiff_t extent, std::size_t bytes) const noexcept;
  void append(const step& next);

  std::vector<step> steps_;  // none has no bytes
  std::size_t last_ = 0;     // step that is in no loop's body
  std::size_t bytes_ = 0;
  std::ptrdiff_t lowest_ = 0, end_ = 0;
};

/// Elements that lie so: where one begins, and the next, `extent` bytes behind.
struct spread {
  layout as;
  std::ptrdiff_t extent = 0;
};

/// What says how it lies: base of the buffers that are not a range of elements.
struct described {
  /// Of this; null: in one piece. Throws std::bad_alloc.
  std::shared_ptr<const spread> (*lies)(const described& of) = nullptr;
};

}  // namespace weft::detail
