// SPDX-License-Identifier: Apache-2.0
#include "streaming.hpp"

#include <sched.h>

#include <algorithm>
#include <cstdio>

namespace weft::kernels {

std::size_t largest_cache(const std::string& folder, int processor) {
  const std::string caches = folder + "/cpu" + std::to_string(processor) + "/cache/index";
  std::size_t largest = 0;
  for (int i = 0;; ++i) {
    std::FILE* const file = std::fopen((caches + std::to_string(i) + "/size").c_str(), "r");
    if (file == nullptr) return largest;
    std::size_t kibibytes = 0;  // "32768K"
    const bool known = std::fscanf(file, "%zu", &kibibytes) == 1;
    std::fclose(file);
    if (!known) return largest;
    largest = std::max(largest, kibibytes << 10);
  }
}

// Half of that cache: past it the target would be gone from there before anybody reads it, and to write into a cache
// first reads what is overwritten. The measurement is in README.md.
//
// Not half of what sysconf says, which is the sum over all third-level caches of a processor: on an EPYC of family 25
// eight times as much.
std::size_t streaming_bytes_beside(std::size_t largest_cache) {
  constexpr std::size_t usual = std::size_t{32} << 20;
  return (largest_cache == 0 ? usual : largest_cache) / 2;
}

std::size_t streaming_bytes() {
  static const std::size_t bytes =
      streaming_bytes_beside(largest_cache("/sys/devices/system/cpu", std::max(::sched_getcpu(), 0)));
  return bytes;
}

}  // namespace weft::kernels
