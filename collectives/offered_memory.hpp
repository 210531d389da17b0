// What ranks of a node offer each other to read, as one rank's run of a schedule uses it.
#pragma once

#include <cstddef>
#include <span>
#include <system_error>
#include <weft/fabric/arena.hpp>

#include "bound_schedule.hpp"

namespace weft::detail {

/// A value; any thread.
class offered_memory {
 public:
  /// `shared`: by the processes of this node; null where all offers are of this process.
  explicit offered_memory(const fabric::arena* shared) : shared_(shared) {}

  /// What to tell of memory of this process.
  memory_offer offer(const std::byte* memory, std::size_t bytes) const noexcept;
  /// Where this process can use memory that `process` has offered, which begins `offset` bytes behind: null where it
  /// has to be read. Throws errc::protocol for a place that is not in that process's heap.
  const std::byte* find(int process, const memory_offer& of, std::size_t offset, std::size_t bytes) const;
  /// Reads it by the kernel: fabric::read_process_memory. Blocks while it copies.
  std::error_code read(int process, const memory_offer& of, std::size_t offset,
                       std::span<std::byte> into) const noexcept;

 private:
  const fabric::arena* shared_;
};

}  // namespace weft::detail
