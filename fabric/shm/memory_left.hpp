// SPDX-License-Identifier: Apache-2.0
// How much memory a process may still take before the kernel ends it for that.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace weft::fabric {

struct memory_left {
  std::uint64_t bytes = 0;
  std::string limit;  ///< what leaves no more: "MemAvailable of /proc/meminfo", a file of a control group
};

/// What the machine has left, or where that is less what the control groups of this process leave, those above them
/// included (both versions of their interface). What their caches of files hold counts as left. Other processes take of
/// the same: a hint. `root` is where /proc and what it names are looked for. What cannot be read does not limit.
memory_left find_memory_left(const std::filesystem::path& root = "/");

}  // namespace weft::fabric
