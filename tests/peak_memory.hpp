// SPDX-License-Identifier: Apache-2.0
// How much memory this process takes.
#pragma once

#include <cstddef>
#include <fstream>
#include <string>

namespace weft_test {

/// Bytes of what a line of /proc/self/status says: "VmRSS" now, "VmHWM" at most, since the last `forget_peak`.
inline std::size_t memory_of_status(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(name + ":")) return std::stoull(line.substr(name.size() + 1)) << 10;
  return 0;
}

inline void forget_peak() { std::ofstream("/proc/self/clear_refs") << 5; }

}  // namespace weft_test
