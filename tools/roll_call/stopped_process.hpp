// SPDX-License-Identifier: Apache-2.0
// A process some of whose threads are stopped for a moment.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>
#include <weft/roll_call/report.hpp>

namespace weft::tools {

/// The registers that a stack is unwound from, by DWARF's numbers; those that are not known are 0.
struct saved_registers {
#if defined(__aarch64__)
  static constexpr std::size_t count = 32, stack_pointer = 31, frame_pointer = 29;
#else
  static constexpr std::size_t count = 17, stack_pointer = 7, frame_pointer = 6;
#endif
  std::array<std::uint64_t, count> values{};
  std::uint64_t pc = 0;
};

/// What a rank's stack is unwound from.
struct saved_stack {
  saved_registers registers;
  bool parked = false;
  std::uint64_t begin = 0;  ///< of the copy
  std::vector<std::byte> bytes;
  std::unique_ptr<saved_stack> outer;  ///< of whoever has resumed the coroutine that this is of
};

/// Copies what is needed of the ranks of the process, in their order; nothing of a rank whose stack is not to be had.
/// `problem` says why one is not. Stops their threads for as long as that takes.
std::vector<std::optional<saved_stack>> copy_stacks(const roll_process& of, std::string& problem);

/// As many of the bytes at an address as there are.
std::size_t read_memory(pid_t of, std::uint64_t at, std::byte* to, std::size_t bytes) noexcept;

}  // namespace weft::tools
