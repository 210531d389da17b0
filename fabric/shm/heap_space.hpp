// SPDX-License-Identifier: Apache-2.0
// Shared memory of which most is never used: addresses for a heap of each process, and pages where they are wanted.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>
#include <weft/runtime/socket.hpp>

#include "mark_runs.hpp"

namespace weft::fabric {

/// Room for `regions` processes, each as much as a machine has memory; less where that is more than 16 TiB together,
/// where files may not be that long (RLIMIT_FSIZE), or where addresses are short (RLIMIT_AS).
///
///     file:       region 0            | region 1            | ...    pages where they are in use
///     addresses:  [begin of region 0)   [begin of region 1)          as far as something was looked for
///                 [twice as much     )  ...
///
/// What is mapped grows: a longer beginning of the region is mapped elsewhere, and the shorter ones stay for who has
/// addresses there. All together take twice the addresses of the longest at most.
///
/// A core dump has the pages of this process's region that were shown to it: all others would be made by being written
/// there. Any thread, but for what takes, shows and gives back: one thread at a time.
class heap_space {
 public:
  /// What regions begin on: the huge page of most machines, so that they can be used.
  static constexpr std::size_t chunk = std::size_t{2} << 20;
  /// What pages are taken, shown to dumps and given back in: not much where little is asked for, and few system calls
  /// where much is.
  static constexpr std::size_t grain = std::size_t{128} << 10;

  /// Makes memory for `regions` processes, sealed, without any page. Throws a system error where not even a little is
  /// to be had.
  static heap_space make(std::size_t regions);
  /// What another process has made for so many. Throws errc::protocol where it is something else, a system error where
  /// this process's limits leave less.
  heap_space(file_descriptor memory, std::size_t regions);
  heap_space(heap_space&&) noexcept = default;
  heap_space& operator=(heap_space&&) = delete;
  ~heap_space();

  const file_descriptor& memory() const noexcept { return memory_; }
  /// Bytes of each, a multiple of the chunk.
  std::size_t region_bytes() const noexcept { return region_bytes_; }
  std::size_t regions() const noexcept { return views_.size(); }

  /// Where the region is mapped up to `end` at least, which is within it. Throws a system error where it cannot be.
  std::byte* reach(std::size_t region, std::uint64_t end) {
    // acquire: pairs with the release of who has mapped it.
    const view* const newest = views_[region].load(std::memory_order_acquire);
    return newest != nullptr && end <= newest->size ? newest->begin : map_more(region, end);
  }
  /// Where memory lies in the region: nothing unless all `bytes` of it do.
  std::optional<std::uint64_t> find(std::size_t region, const void* address, std::size_t bytes) const noexcept;

  // Of whole grains of a region.

  /// Takes pages, on the NUMA node of the calling thread unless its memory policy says otherwise, so that no access to
  /// them fails later; blocks while the kernel clears them. Where memory is short it throws a system error, or one that
  /// says what limit leaves too little.
  void take_pages(std::size_t region, std::uint64_t begin, std::uint64_t end);
  /// Shows pages that were taken to core dumps, where `reach` finds them now.
  void show_to_dumps(std::size_t region, std::uint64_t begin, std::uint64_t end);
  /// Gives pages back to the system, and what lies there is lost; false, and nothing is, where dumps cannot be told.
  bool give_pages_back(std::size_t region, std::uint64_t begin, std::uint64_t end) noexcept;

 private:
  /// A mapping of a region's beginning.
  struct view {
    view(const file_descriptor& memory, std::size_t place, std::size_t size);
    view(const view&) = delete;
    view& operator=(const view&) = delete;
    ~view();
    std::byte* const begin;
    const std::size_t size;
    std::unique_ptr<view> before;  ///< a shorter one
    piece_marks dumped;            ///< by grain
  };

  heap_space(file_descriptor memory, std::size_t regions, std::size_t region_bytes);
  std::byte* map_more(std::size_t region, std::uint64_t end);
  void discard(std::size_t region, std::uint64_t begin, std::uint64_t end) noexcept;
  std::size_t place_of(std::size_t region, std::uint64_t offset) const noexcept {
    return region * region_bytes_ + offset;
  }

  file_descriptor memory_;
  std::size_t region_bytes_ = 0;
  std::vector<std::atomic<view*>> views_;  // of each region: the longest; null: none
  std::unique_ptr<std::mutex> mapping_;
};

}  // namespace weft::fabric
