// SPDX-License-Identifier: Apache-2.0
// What a process holds of what the system gives it.
#pragma once

#include <dirent.h>
#include <malloc.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <string>

#include "peak_memory.hpp"

namespace weft_test {

struct holding {
  /// Memory, in KiB: all that is resident; what malloc has given out; what is resident of the process's own, of what it
  /// shares, and of files, when malloc has returned what is free. And how many descriptors are open.
  static constexpr std::array names{"rss", "heap", "anon", "shared", "file", "descriptors"};
  static constexpr std::size_t heap = 1, anon = 2, shared = 3, descriptors = 5;
  std::array<double, names.size()> of{};
};

inline double descriptors_open() {
  int count = -1;  // the directory's own
  DIR* const all = ::opendir("/proc/self/fd");
  while (const dirent* const each = ::readdir(all)) count += each->d_name[0] != '.' ? 1 : 0;
  ::closedir(all);
  return count;
}

inline holding held_now() {
  const auto kib = [](std::size_t bytes) { return static_cast<double>(bytes) / 1024; };
  const auto line = [&](const char* name) { return kib(memory_of_status(name)); };
  const double rss = line("VmRSS");
  ::malloc_trim(0);
  const struct mallinfo2 heap = ::mallinfo2();
  return {
      {rss, kib(heap.uordblks + heap.hblkhd), line("RssAnon"), line("RssShmem"), line("RssFile"), descriptors_open()}};
}

/// "LABEL: rss 5120 heap 12 ...", a line.
inline void print_holding(const std::string& label, const holding& held) {
  std::string text = label + ":";
  for (std::size_t i = 0; i < holding::names.size(); ++i) {
    std::array<char, 64> number{};
    std::snprintf(number.data(), number.size(), " %s %.1f", holding::names[i], held.of[i]);
    text += number.data();
  }
  std::printf("%s\n", text.c_str());
  std::fflush(stdout);
}

}  // namespace weft_test
