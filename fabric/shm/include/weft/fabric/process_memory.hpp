// Reading another process's memory, without its help.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <system_error>

namespace weft::fabric {

/// Copies what process `pid` has at `address` into `into`, by process_vm_readv. The kernel checks the address: one that
/// is wrong is an error here and harmless there. Blocks while it copies. What kept it from copying all: EPERM where
/// this process may not (another user's, seccomp, ptrace scope), ESRCH where the other has ended, EFAULT.
std::error_code read_process_memory(std::int64_t pid, std::uint64_t address, std::span<std::byte> into) noexcept;

}  // namespace weft::fabric
