// SPDX-License-Identifier: Apache-2.0
// Memory for fibers to run on.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>
#include <weft/runtime/memory_budget.hpp>

namespace weft {

/// A stack in memory of its own with a page below that faults when it is touched. Pages are committed as they are
/// touched. One owner; moving does not move the memory.
class stack {
 public:
  static constexpr std::size_t default_size = 256 * 1024;

  stack() noexcept = default;

  /// At least `size` bytes, rounded up to pages; the guard page comes on top. Throws `error` when the system refuses (a
  /// process may have about 65,530 mappings; a stack takes two), and where `memory`, in which it is counted in full,
  /// leaves too little.
  explicit stack(std::size_t size, std::shared_ptr<memory_budget> memory = nullptr);
  stack(stack&& other) noexcept;
  stack& operator=(stack&& other) noexcept;
  ~stack();

  /// The lowest usable byte; the guard page ends here. Null for no stack.
  std::byte* bottom() const noexcept { return bottom_; }
  /// One past the highest usable byte.
  std::byte* top() const noexcept { return bottom_ + size_; }
  std::size_t size() const noexcept { return size_; }
  /// Whether the page below holds that address, which may be any.
  bool guards(const void* address) const noexcept;

 private:
  std::byte* bottom_ = nullptr;
  std::size_t size_ = 0;
  unsigned valgrind_ = 0;  // by which number that knows it
  memory_charge charge_;
};

/// Stacks of one size for reuse: making one costs 5 us, taking one from here some nanoseconds. One thread's.
class stack_pool {
 public:
  static constexpr std::size_t usually_kept = 1024;

  /// Keeps at most `kept` free stacks, and none where `memory`, in which all are counted, is scarce.
  explicit stack_pool(std::size_t size = stack::default_size, std::size_t kept = usually_kept,
                      std::shared_ptr<memory_budget> memory = nullptr);

  /// A free stack, the one given back last if there is one. Throws what `stack` throws.
  stack take();
  /// Takes back a stack that nothing runs on.
  void give(stack&& unused) noexcept;

  std::size_t stack_size() const noexcept { return size_; }
  std::size_t free() const noexcept { return free_.size(); }

 private:
  std::size_t size_;
  std::size_t kept_;
  std::shared_ptr<memory_budget> memory_;
  std::vector<stack> free_;
};

}  // namespace weft
