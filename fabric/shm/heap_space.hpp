// Shared memory of which most is never used: addresses for a heap of each process, and pages where they are wanted.
#pragma once

#include <cstddef>
#include <weft/runtime/socket.hpp>

namespace weft::fabric {

/// As much as a machine has memory is set aside for each of `regions` processes; less where that is more than 16 TiB
/// together, where files may not be that long (RLIMIT_FSIZE), or where addresses are short (RLIMIT_AS).
class heap_space {
 public:
  /// What regions begin on: the huge page of most machines, so that they can be used.
  static constexpr std::size_t chunk = std::size_t{2} << 20;

  /// Makes memory for `regions` processes, sealed, without any page, and maps it. Throws a system error where not even
  /// a little is to be had.
  static heap_space make(std::size_t regions);
  /// Maps what another process has made for so many. Throws errc::protocol where it is something else, a system error
  /// where it cannot be mapped.
  heap_space(file_descriptor memory, std::size_t regions);
  heap_space(heap_space&& other) noexcept;
  heap_space& operator=(heap_space&&) = delete;
  ~heap_space();

  const file_descriptor& memory() const noexcept { return memory_; }
  /// Bytes of each, a multiple of the chunk.
  std::size_t region_bytes() const noexcept { return region_bytes_; }
  std::size_t regions() const noexcept { return size_ / region_bytes_; }
  std::byte* region(std::size_t index) const noexcept { return begin_ + index * region_bytes_; }

  /// Leaves all regions but this one out of core dumps.
  void keep_from_dumps_all_but(std::size_t region) const noexcept;

  /// Takes whole pages of the mapping, on the NUMA node of the calling thread unless its memory policy says
  /// otherwise, so that no access to them fails later; blocks while the kernel clears them. Where memory is short it
  /// throws a system error, or one that says what limit leaves too little.
  void take_pages(std::byte* at, std::size_t size) const;
  /// Gives them back to the system. What lies there is lost.
  void give_pages_back(std::byte* at, std::size_t size) const noexcept;

 private:
  heap_space(file_descriptor memory, std::size_t region_bytes, std::size_t size);

  file_descriptor memory_;
  std::size_t region_bytes_ = 0;
  std::size_t size_ = 0;
  std::byte* begin_ = nullptr;
};

}  // namespace weft::fabric
