// SPDX-License-Identifier: Apache-2.0
#include "frame_buffers.hpp"

#include <sys/uio.h>

#include <algorithm>

namespace weft::fabric {

void frame_buffers::post(std::size_t bytes) {
  // A buffer is given back with up to a frame of it unused; fewer frames than eight would have it posted all the time.
  const std::size_t frame = endpoint_.limits().frame;
  buffer_bytes_ = std::max(bytes / (buffer_count - 1) + 1, 8 * frame) + frame;
  memory_ = std::make_unique_for_overwrite<std::byte[]>(buffer_count * buffer_bytes_);
  buffers_.resize(buffer_count);
  first_ = reinterpret_cast<std::uintptr_t>(buffers_.data());
  size_ = buffers_.size() * sizeof(buffer);
  for (std::size_t index = 0; index < buffer_count; ++index) {
    buffers_[index].memory = memory_.get() + index * buffer_bytes_;
    released(buffers_[index]);
  }
  repost();
}

void frame_buffers::repost() {
  if (!registered_)
    registered_ = registration_.keep({memory_.get(), buffer_count * buffer_bytes_}, FI_RECV, region_);
  if (!registered_) return;
  for (buffer& next : buffers_) {
    if (next.posted) continue;
    if (!try_post(next)) return;
    next.posted = true;
    --missing_;
  }
}

bool frame_buffers::try_post(buffer& next) {
  const iovec memory{next.memory, buffer_bytes_};
  void* descriptor = region_ != nullptr ? fi_mr_desc(region_.get()) : nullptr;
  fi_msg message{};
  message.msg_iov = &memory;
  message.desc = &descriptor;
  message.iov_count = 1;
  message.addr = FI_ADDR_UNSPEC;
  message.context = &next.context;
  const ssize_t result = fi_recvmsg(endpoint_.get(), &message, FI_MULTI_RECV);
  if (result == -FI_EAGAIN || result == -FI_ENOMEM) return false;  // shm says the latter when its queue is full
  check_fabric(result, endpoint_.limits().provider, "fi_recvmsg FI_MULTI_RECV");
  return true;
}

}  // namespace weft::fabric
