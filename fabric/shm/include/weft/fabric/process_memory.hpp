// SPDX-License-Identifier: Apache-2.0
// Reading another process's memory, without its help.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <system_error>

namespace weft::fabric {

/// Copies what process `pid` has at `address` into `into`, by process_vm_readv. The kernel checks the address: one that
/// is wrong is an error here and harmless there. Blocks while it copies. What kept it from copying all: EPERM where
/// this process may not (another user's, seccomp, ptrace scope), ESRCH where the other has ended, EFAULT.
std::error_code read_process_memory(std::int64_t pid, std::uint64_t address, std::span<std::byte> into) noexcept;

/// A part of another process's memory, and where it goes.
struct process_memory_piece {
  std::uint64_t address = 0;
  std::span<std::byte> into;
};

/// The same of several, at most `most_read_at_once`, by one call of the kernel: for parts of 8 KiB that takes half of
/// the time of a call for each. Not all of them may have been read where there is an error.
std::error_code read_process_memory(std::int64_t pid, std::span<const process_memory_piece> pieces) noexcept;
inline constexpr std::size_t most_read_at_once = 32;

/// Bytes that are read before they are combined, of all the others together, so that they stay in a core's own cache;
/// and the least of one of them, since each read is a system call.
inline constexpr std::size_t most_pieces = 128 << 10;
inline constexpr std::size_t least_piece = 16 << 10;

/// Who cannot be read has ended, or left a call that failed, most likely: so long it may take until that is known here.
inline constexpr std::chrono::seconds time_to_explain{1};

}  // namespace weft::fabric
