// SPDX-License-Identifier: Apache-2.0
// Copies in one piece of buffers that do not lie in one.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <weft/layout.hpp>
#include <weft/runtime/memory_budget.hpp>

namespace weft::detail {

/// Scratch memory, counted in `memory`, for what lies in pieces at `at`, which outlives it. Throws std::bad_alloc,
/// errc::out_of_memory.
class packed_copy {
 public:
  packed_copy(std::shared_ptr<const spread> lies, void* at, std::size_t bytes, std::shared_ptr<memory_budget> memory)
      : lies_(std::move(lies)),
        at_(static_cast<std::byte*>(at)),
        bytes_(bytes),
        charge_(std::move(memory), bytes, "a packed buffer"),
        scratch_(std::make_unique_for_overwrite<std::byte[]>(bytes)) {}

  std::span<std::byte> bytes() const noexcept { return {scratch_.get(), bytes_}; }
  /// What is in the buffer now.
  std::span<const std::byte> pack() const noexcept {
    lies_->as.pack(scratch_.get(), at_, lies_->extent, bytes_);
    return bytes();
  }
  /// All of it, or the first so many bytes, into the buffer.
  void unpack() const noexcept { unpack(bytes_); }
  void unpack(std::size_t some) const noexcept { lies_->as.unpack(at_, lies_->extent, scratch_.get(), some); }

 private:
  std::shared_ptr<const spread> lies_;
  std::byte* at_;
  std::size_t bytes_;
  memory_charge charge_;
  std::unique_ptr<std::byte[]> scratch_;
};

}  // namespace weft::detail
