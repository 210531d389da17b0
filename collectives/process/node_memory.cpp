// SPDX-License-Identifier: Apache-2.0
#include "node_memory.hpp"

#include <cstdio>
#include <new>
#include <utility>
#include <weft/runtime/error.hpp>

namespace weft {
namespace detail {

void* node_memory::take(std::size_t bytes) {
  if (heap_ != nullptr) try {
      return heap_->take(bytes);
    } catch (const error& refused) {
      if (refused.code() == errc::out_of_memory) throw;
      // relaxed: nothing hangs on it but how often this is said.
      if (!said_.exchange(true, std::memory_order_relaxed))
        std::fprintf(stderr, "weft: warning: arrays are taken from memory that the node does not share: %s\n",
                     refused.what());
    }
  budget_->take(bytes, "an array of the runtime's", memory_use::call);
  try {
    return ::operator new (bytes, std::align_val_t{fabric::arena_heap::alignment});
  } catch (...) {
    budget_->give_back(bytes);
    throw;
  }
}

void node_memory::give_back(void* taken, std::size_t bytes) noexcept {
  if (shares(taken)) return heap_->give_back(static_cast<std::byte*>(taken), bytes);
  ::operator delete (taken, std::align_val_t{fabric::arena_heap::alignment});
  budget_->give_back(bytes);
}

void node_memory::give_back_at_end(void* taken, std::size_t bytes) noexcept {
  try {
    const std::lock_guard lock(leaving_);
    left_.push_back({taken, bytes});
  } catch (...) {
  }
}

node_memory::~node_memory() {
  for (const block& each : left_) give_back(each.taken, each.bytes);
}

void* take_memory(node_memory& from, std::size_t bytes) { return from.take(bytes); }
void give_back_memory(node_memory& to, void* taken, std::size_t bytes) noexcept { to.give_back(taken, bytes); }
void give_back_memory_at_end(node_memory& to, void* taken, std::size_t bytes) noexcept {
  to.give_back_at_end(taken, bytes);
}
bool is_shared(const node_memory& of, const void* taken) noexcept { return of.shares(taken); }

}  // namespace detail
}  // namespace weft
