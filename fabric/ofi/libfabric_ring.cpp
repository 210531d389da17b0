#include "libfabric_ring.hpp"

#include <sys/uio.h>

#include <algorithm>

namespace weft::fabric {

void libfabric_ring::post(std::size_t bytes) {
  // A buffer is given back with up to a frame of it unused; fewer frames than eight would have it posted all the time.
  const std::size_t frame = endpoint_.limits().frame;
  slot_bytes_ = std::max(bytes / (slot_count - 1) + 1, 8 * frame) + frame;
  memory_ = std::make_unique_for_overwrite<std::byte[]>(slot_count * slot_bytes_);
  region_ = registration_.keep({memory_.get(), slot_count * slot_bytes_}, FI_RECV);
  slots_.resize(slot_count);
  first_ = reinterpret_cast<std::uintptr_t>(slots_.data());
  size_ = slots_.size() * sizeof(slot);
  for (std::size_t index = 0; index < slot_count; ++index) {
    slots_[index].memory = memory_.get() + index * slot_bytes_;
    released(slots_[index]);
  }
  repost();
}

void libfabric_ring::repost() {
  for (slot& next : slots_) {
    if (next.posted) continue;
    if (!try_post(next)) return;
    next.posted = true;
    --missing_;
  }
}

bool libfabric_ring::try_post(slot& next) {
  const iovec memory{next.memory, slot_bytes_};
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
