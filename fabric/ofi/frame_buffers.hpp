// SPDX-License-Identifier: Apache-2.0
// The buffers that frames arrive in: each takes many of them, and is posted again when the provider gives it back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "libfabric_endpoint.hpp"
#include "libfabric_registration.hpp"

namespace weft::fabric {

class frame_buffers {
 public:
  struct buffer {
    fi_context2 context;  // the provider's while posted
    std::byte* memory;
    bool posted;
  };

  frame_buffers(const libfabric_endpoint& of, libfabric_registration& registered)
      : endpoint_(of), registration_(registered) {}

  /// Makes and posts the buffers: at least `bytes` of them stay posted while one is waiting to be posted again.
  void post(std::size_t bytes);
  /// The buffer that a completion's context names; null when it is none of these.
  buffer* buffer_of(void* context) noexcept {
    return reinterpret_cast<std::uintptr_t>(context) - first_ < size_ ? static_cast<buffer*>(context) : nullptr;
  }
  /// The provider has given the buffer back; its last frame has been taken.
  void released(buffer& given_back) noexcept {
    given_back.posted = false;
    ++missing_;
  }
  bool all_posted() const noexcept { return missing_ == 0; }
  /// Posts what was given back; what the provider is too busy for waits for the next call.
  void repost();

 private:
  static constexpr std::size_t buffer_count = 4;
  bool try_post(buffer& next);

  const libfabric_endpoint& endpoint_;
  libfabric_registration& registration_;
  std::unique_ptr<std::byte[]> memory_;
  fabric_handle<fid_mr> region_;
  bool registered_ = false;  // or needs not be
  std::vector<buffer> buffers_;
  std::uintptr_t first_ = 0;  // where buffers_ begins
  std::size_t size_ = 0;      // and how many bytes it has
  std::size_t buffer_bytes_ = 0;
  std::size_t missing_ = 0;
};

}  // namespace weft::fabric
