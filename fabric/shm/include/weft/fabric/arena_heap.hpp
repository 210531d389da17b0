// SPDX-License-Identifier: Apache-2.0
// Memory of a process that the others of its node read and write in place.
//
//   region of process 0 | region of process 1 | ...      the same length each; pages where they are in use, and
//                                                        addresses as far as a process has used them
//
// Each process takes and frees memory in its own region alone, and keeps all that it knows of it to itself: what the
// others are told is an offset and a length, which they check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>
#include <weft/runtime/memory_budget.hpp>

namespace weft::fabric {

class heap_space;
class range_pool;

class arena_heap {
 public:
  /// Two cache lines, as processors fetch them in pairs. What is as long as a page or a huge page begins on one.
  static constexpr std::size_t alignment = 128;

  /// Of the process whose region is number `self`.
  arena_heap(heap_space space, std::size_t self);
  ~arena_heap();

  /// Pages are counted there from now on. Before any is taken.
  void count_in(std::shared_ptr<memory_budget> memory);

  /// The most that a process can have, bytes.
  std::size_t region_bytes() const noexcept;
  /// Of this process's region: bytes that are taken, and that there are pages for.
  struct usage {
    std::size_t taken = 0;
    std::size_t resident = 0;
  };
  usage used() const;

  // Any thread. Where pages are needed `take` blocks until the kernel has cleared them; they are on the NUMA node of
  // the thread that calls it. Long free ranges go back to the system.

  /// At least `bytes` bytes. Throws weft::error where no more memory is to be had (errc::out_of_memory: within the
  /// limit), std::bad_alloc.
  std::byte* take(std::size_t bytes, memory_use use = memory_use::call);
  /// Frees what `take` gave for as many.
  void give_back(std::byte* taken, std::size_t bytes) noexcept;
  /// Whether this process has taken it here.
  bool owns(const void* address) const noexcept;

  /// Where memory lies in this process's region: nothing unless all `bytes` of it do.
  std::optional<std::uint64_t> offset_of(const void* address, std::size_t bytes) const noexcept;
  /// Where that is for this process, of region number `region`: null where it is not in there. Throws a system error
  /// where this process has no more addresses for it.
  std::byte* at(std::size_t region, std::uint64_t offset, std::size_t bytes) const;

 private:
  // Of grains.
  void fill_with_pages(std::size_t begin, std::size_t end, memory_use use);
  void spare(std::size_t begin, std::size_t end) noexcept;

  const std::unique_ptr<heap_space> space_;
  const std::size_t self_;
  mutable std::mutex taking_;  // guards the next
  const std::unique_ptr<range_pool> free_;
  std::vector<bool> filled_;  // grains that have pages
  usage used_;
  memory_charge charge_;  // of what is resident
  std::size_t most_idle_;
};

}  // namespace weft::fabric
