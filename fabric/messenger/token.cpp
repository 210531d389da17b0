// SPDX-License-Identifier: Apache-2.0
#include <linux/membarrier.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <weft/fabric/token.hpp>

namespace weft::fabric {
namespace {

/// So often others may try to take it from its owner until it is nobody's: beside what they do the barriers are dear.
constexpr unsigned most_tries_of_others = 1000;

bool membarrier(int command) noexcept { return ::syscall(SYS_membarrier, command, 0, 0) == 0; }

}  // namespace

void token::prepare_process() noexcept {
  if (__libc_single_threaded) membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
}

void token::give_to_this_thread() noexcept {
#if !defined(__SANITIZE_THREAD__)  // which does not know that barrier
  if (!membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED)) return;
  acquire();
  if (!was_given_) owner_.store(this_thread(), std::memory_order_relaxed);  // relaxed: for this thread, or a hint
  was_given_ = true;
  release();
#endif
}

/// It is held but for that.
bool token::take_from_owner() noexcept {
  ++tries_of_others_;
  others_.store(true, std::memory_order_relaxed);  // relaxed: the barrier orders
  const bool seen = membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
  // acquire: pairs with release() of its owner.
  if (!seen || inside_.load(std::memory_order_acquire)) {
    others_.store(false, std::memory_order_release);
    held_.store(false, std::memory_order_release);
    return false;
  }
  // relaxed: whoever finds it still set finds `others_`, which is not taken back any more.
  if (tries_of_others_ >= most_tries_of_others) owner_.store(0, std::memory_order_relaxed);
  return true;
}

}  // namespace weft::fabric
