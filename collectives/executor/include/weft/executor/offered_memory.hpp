// SPDX-License-Identifier: Apache-2.0
// What ranks of a node offer each other to read, as one rank's run of a schedule uses it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <system_error>
#include <weft/executor/bound_schedule.hpp>
#include <weft/fabric/arena.hpp>

namespace weft::detail {

/// Whether what a run has offered still holds: once it has failed its memory may be anything, or gone, while others
/// still read. They look at this behind what they have read.
class offer_mark {
 public:
  explicit offer_mark(std::uint64_t communicator) noexcept : standing_(standing(communicator)) {}
  offer_mark(const offer_mark&) = delete;
  offer_mark& operator=(const offer_mark&) = delete;
  ~offer_mark() { fall(); }

  /// What it says while it holds: hardly by chance what lies there when the run is gone.
  static std::uint64_t standing(std::uint64_t communicator) noexcept {
    return (communicator + 1) * 0x9e3779b97f4a7c15u;  // Fibonacci hashing
  }
  /// Before anything is offered.
  void stand() noexcept {
    word_.store(standing_, std::memory_order_relaxed);
  }  // relaxed: the offer's message orders it
  /// Before what was offered changes.
  void fall() noexcept {
    word_.store(0, std::memory_order_relaxed);
    // release: who has read what is written to that memory from now on finds that it has fallen; see look().
    std::atomic_thread_fence(std::memory_order_release);
  }
  std::uint64_t address() const noexcept { return reinterpret_cast<std::uintptr_t>(&word_); }

 private:
  const std::uint64_t standing_;
  std::atomic<std::uint64_t> word_{0};
};

/// A value; any thread.
class offered_memory {
 public:
  /// `shared`: by the processes of this node; null where all ranks are of this process.
  explicit offered_memory(const fabric::arena* shared) : shared_(shared) {}

  /// What to tell of memory of this process.
  memory_offer offer(const std::byte* memory, std::size_t bytes, const offer_mark& mark) const noexcept;
  /// Where this process can use memory that `process` has offered, which begins `offset` bytes behind: null where it
  /// has to be read, as all has that must not change any more, which it does where the offer has fallen (`fixed`).
  /// Throws errc::protocol for a place that is not in that process's heap.
  const std::byte* find(int process, const memory_offer& of, std::size_t offset, std::size_t bytes, bool fixed) const;
  /// Reads it by the kernel: fabric::read_process_memory. Blocks while it copies.
  std::error_code read(int process, const memory_offer& of, std::size_t offset,
                       std::span<std::byte> into) const noexcept;
  /// Whether what was read of it until now is what was offered on `communicator`: ECANCELED where that holds no more,
  /// else what kept the kernel from looking.
  std::error_code look(int process, const memory_offer& of, std::uint64_t communicator) const noexcept;

 private:
  const fabric::arena* shared_;
};

}  // namespace weft::detail
