// SPDX-License-Identifier: Apache-2.0
// Where the arrays of a runtime lie that others of its node may use in place.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>
#include <weft/fabric/arena_heap.hpp>
#include <weft/node_memory.hpp>

namespace weft::detail {

/// The process's heap in the node's arena, and ordinary memory where that has no more or there is none. Lives as long
/// as anything that lies in it. Any thread.
class node_memory {
 public:
  /// `heap` may be null. Ordinary memory is counted in `budget`, as the heap is.
  node_memory(std::shared_ptr<fabric::arena_heap> heap, std::shared_ptr<memory_budget> budget) noexcept
      : heap_(std::move(heap)), budget_(std::move(budget)) {}
  node_memory(const node_memory&) = delete;
  node_memory& operator=(const node_memory&) = delete;
  ~node_memory();

  /// Throws std::bad_alloc, errc::out_of_memory.
  void* take(std::size_t bytes);
  void give_back(void* taken, std::size_t bytes) noexcept;
  /// The same once this goes, since others may still write there. Without memory to note it, never.
  void give_back_at_end(void* taken, std::size_t bytes) noexcept;
  bool shares(const void* taken) const noexcept { return heap_ != nullptr && heap_->owns(taken); }

 private:
  const std::shared_ptr<fabric::arena_heap> heap_;
  const std::shared_ptr<memory_budget> budget_;
  std::atomic<bool> said_{false};  // that there is no more
  struct block {
    void* taken;
    std::size_t bytes;
  };
  std::mutex leaving_;  // guards the next
  std::vector<block> left_;
};

}  // namespace weft::detail
