// The buffers that frames arrive in: each takes many of them, and is posted again when the provider gives it back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "libfabric_endpoint.hpp"
#include "libfabric_registration.hpp"

namespace weft::fabric {

class libfabric_ring {
 public:
  struct slot {
    fi_context2 context;  // the provider's while posted
    std::byte* memory;
    bool posted;
  };

  libfabric_ring(const libfabric_endpoint& of, libfabric_registration& registered)
      : endpoint_(of), registration_(registered) {}

  /// Makes and posts the buffers: at least `bytes` of them stay posted while one is waiting to be posted again.
  void post(std::size_t bytes);
  /// The slot that a completion's context names; null when it is not of this ring.
  slot* slot_of(void* context) noexcept {
    return reinterpret_cast<std::uintptr_t>(context) - first_ < size_ ? static_cast<slot*>(context) : nullptr;
  }
  /// The provider has given the buffer back; its last frame has been taken.
  void released(slot& given_back) noexcept {
    given_back.posted = false;
    ++missing_;
  }
  bool whole() const noexcept { return missing_ == 0; }
  /// Posts what was given back; what the provider is too busy for waits for the next call.
  void repost();

 private:
  static constexpr std::size_t slot_count = 4;
  bool try_post(slot& next);

  const libfabric_endpoint& endpoint_;
  libfabric_registration& registration_;
  std::unique_ptr<std::byte[]> memory_;
  fabric_handle<fid_mr> region_;
  std::vector<slot> slots_;
  std::uintptr_t first_ = 0;  // where slots_ begins
  std::size_t size_ = 0;      // and how many bytes it has
  std::size_t slot_bytes_ = 0;
  std::size_t missing_ = 0;
};

}  // namespace weft::fabric
