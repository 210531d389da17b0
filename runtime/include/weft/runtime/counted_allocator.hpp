// SPDX-License-Identifier: Apache-2.0
// Memory of containers and shared objects that is counted in a budget.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <weft/runtime/memory_budget.hpp>

namespace weft {

/// Allocates what a call needs, counted in a budget.
template <class T>
class counted_allocator {
 public:
  using value_type = T;

  /// `what` it is for, of static duration: an error says it.
  counted_allocator(std::shared_ptr<memory_budget> of, const char* what) noexcept : of_(std::move(of)), what_(what) {}
  template <class Other>
  counted_allocator(const counted_allocator<Other>& other) noexcept : of_(other.of_), what_(other.what_) {}

  /// Throws std::bad_alloc, and as memory_budget::take.
  T* allocate(std::size_t count) {
    of_->take(count * sizeof(T), what_, memory_use::call);
    try {
      return std::allocator<T>().allocate(count);
    } catch (...) {
      of_->give_back(count * sizeof(T));
      throw;
    }
  }
  void deallocate(T* made, std::size_t count) noexcept {
    std::allocator<T>().deallocate(made, count);
    of_->give_back(count * sizeof(T));
  }
  friend bool operator==(const counted_allocator&, const counted_allocator&) = default;

 private:
  template <class Other>
  friend class counted_allocator;
  std::shared_ptr<memory_budget> of_;
  const char* what_;
};

}  // namespace weft
