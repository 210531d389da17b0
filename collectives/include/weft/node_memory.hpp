// SPDX-License-Identifier: Apache-2.0
// Arrays that the processes of a node read and write in place.
#pragma once

#include <weft/api.h>

#include <cstddef>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <utility>
#include <weft/operators.hpp>

namespace weft {

class runtime;

namespace detail {

class node_memory;

WEFT_API std::shared_ptr<node_memory> memory_of(runtime& of) noexcept;
/// At least `bytes` bytes, aligned to 128: of the heap of the node's memory, or where there is none, or no more of it,
/// ordinary ones. Any thread. Throws std::bad_alloc, errc::out_of_memory (the option memory-limit).
WEFT_API void* take_memory(node_memory& from, std::size_t bytes);
/// Gives back what `take_memory` gave for as many.
WEFT_API void give_back_memory(node_memory& to, void* taken, std::size_t bytes) noexcept;
/// The same once nothing else of `to` is used, since others may still write there.
void give_back_memory_at_end(node_memory& to, void* taken, std::size_t bytes) noexcept;
/// Whether the other processes of the node can use it in place.
WEFT_API bool is_shared(const node_memory& of, const void* taken) noexcept;

}  // namespace detail

/// Memory of runtime::allocate for containers: std::vector<double, weft::node_allocator<double>> x(n, runtime). Copies
/// are of the same memory, which lives as long as one of them or one of its allocations: a container may outlive the
/// runtime. Its elements are then for its process alone. Any thread.
template <carriable T>
class node_allocator {
 public:
  using value_type = T;
  using propagate_on_container_copy_assignment = std::true_type;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;
  using is_always_equal = std::false_type;

  /// Of `of`, as runtime::allocate.
  node_allocator(runtime& of) noexcept : memory_(detail::memory_of(of)) {}
  template <carriable U>
  node_allocator(const node_allocator<U>& other) noexcept : memory_(other.memory_) {}

  /// Throws std::bad_alloc, errc::out_of_memory.
  T* allocate(std::size_t count) {
    static_assert(alignof(T) <= 128, "weft: node memory is aligned to 128 bytes");
    if (count > static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max()) / sizeof(T))
      throw std::bad_array_new_length();
    return static_cast<T*>(detail::take_memory(*memory_, count * sizeof(T)));
  }
  void deallocate(T* allocated, std::size_t count) noexcept {
    detail::give_back_memory(*memory_, allocated, count * sizeof(T));
  }
  /// Whether the other processes of the node use what it allocated in place; else it is ordinary memory, with which
  /// everything works as well.
  bool shares(const T* allocated) const noexcept { return detail::is_shared(*memory_, allocated); }

  template <carriable U>
  friend bool operator==(const node_allocator& a, const node_allocator<U>& b) noexcept {
    return a.memory_ == b.memory_;
  }

 private:
  template <carriable U>
  friend class node_allocator;
  std::shared_ptr<detail::node_memory> memory_;
};

/// An array of its own, of fixed length: what runtime::allocate gives. It moves, and frees its memory when it goes. A
/// contiguous range, so that collectives and messages take it as it is, or any part of its span. It may outlive the
/// runtime, as memory of its process alone.
template <carriable T>
class node_array {
 public:
  using value_type = T;

  node_array() noexcept = default;
  /// `count` elements, value-initialised: numbers are 0. Throws std::bad_alloc,
  /// errc::out_of_memory.
  node_array(node_allocator<T> from, std::size_t count)
      : elements_(from.allocate(count), deleter{from, count}), size_(count) {
    std::uninitialized_value_construct_n(elements_.get(), count);
  }
  node_array(node_array&& other) noexcept
      : elements_(std::move(other.elements_)), size_(std::exchange(other.size_, 0)) {}
  node_array& operator=(node_array&& other) noexcept {
    elements_ = std::move(other.elements_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  T* data() noexcept { return elements_.get(); }
  const T* data() const noexcept { return elements_.get(); }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  T* begin() noexcept { return data(); }
  T* end() noexcept { return data() + size_; }
  const T* begin() const noexcept { return data(); }
  const T* end() const noexcept { return data() + size_; }
  T& operator[](std::size_t i) noexcept { return data()[i]; }
  const T& operator[](std::size_t i) const noexcept { return data()[i]; }
  std::span<T> span() noexcept { return {data(), size_}; }
  std::span<const T> span() const noexcept { return {data(), size_}; }

  /// Whether the other processes of the node use it in place; else it is ordinary memory, with which everything works
  /// as well.
  bool shared() const noexcept { return elements_ != nullptr && elements_.get_deleter().from->shares(data()); }

 private:
  struct deleter {
    std::optional<node_allocator<T>> from;
    std::size_t count = 0;
    void operator()(T* elements) noexcept { from->deallocate(elements, count); }
  };
  std::unique_ptr<T, deleter> elements_;
  std::size_t size_ = 0;
};

}  // namespace weft
