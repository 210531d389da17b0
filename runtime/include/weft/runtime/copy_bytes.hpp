// SPDX-License-Identifier: Apache-2.0
// Copies of messages and vectors.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace weft {
namespace detail {

/// Has the line come to be written.
inline void ask_for_writing(std::byte* line) noexcept {
#if defined(__x86_64__)
  asm volatile("prefetchw %0" : : "m"(*line));  // __builtin_prefetch asks for a copy to read unless told of the CPU
#else
  __builtin_prefetch(line, 1);
#endif
}

/// Copies 8 to 16 bytes, without a call. False: they are fewer or more, and nothing was done.
inline bool copy_value(void* to, const void* from, std::size_t bytes) noexcept {
  constexpr std::size_t word = sizeof(std::uint64_t);
  if (bytes - word > word) return false;
  std::uint64_t first, last;
  std::memcpy(&first, from, word);
  std::memcpy(&last, static_cast<const std::byte*>(from) + bytes - word, word);
  std::memcpy(to, &first, word);
  std::memcpy(static_cast<std::byte*>(to) + bytes - word, &last, word);
  return true;
}

}  // namespace detail

/// As std::memcpy; nothing where there are no bytes, or the two are one place. In pieces: from 4 KiB on glibc before
/// 2.39 takes `rep movsb` on AMD's Zen 3 and 4, which can be 20 times slower than its loops where target and source
/// begin differently in their pages (glibc's bug 30994). From a second cache's size on it takes loops again.
inline void copy_bytes(void* to, const void* from, std::size_t bytes) noexcept {
  if (detail::copy_value(to, from, bytes)) return;
  constexpr std::size_t loops_again = 1 << 20;
  std::size_t piece = 2 << 10;
  asm("" : "+r"(piece));  // hidden from GCC, which copies a constant length by `rep movsq`, as slow as that
  if (bytes == 0 || to == from) return;
  auto* target = static_cast<std::byte*>(to);
  const auto* source = static_cast<const std::byte*>(from);
  if (bytes < loops_again)
    for (; bytes > piece; bytes -= piece, target += piece, source += piece) std::memcpy(target, source, piece);
  std::memcpy(target, source, bytes);
}

/// The same, to memory that another core has read: it asks for its lines ahead, since each has to come from there.
inline void copy_bytes_to_reader(void* to, const void* from, std::size_t bytes) noexcept {
  if (detail::copy_value(to, from, bytes)) return;
  constexpr std::size_t line = 64, ahead = 1 << 10;
  auto* target = static_cast<std::byte*>(to);
  const auto* source = static_cast<const std::byte*>(from);
  const auto copy = [&](std::size_t some) {
    std::memcpy(target, source, some);
    target += some;
    source += some;
    bytes -= some;
  };
  if (bytes > line) {
    for (std::size_t at = line; at < std::min(bytes, ahead); at += line) detail::ask_for_writing(target + at);
    copy(-reinterpret_cast<std::uintptr_t>(target) % line);
    while (bytes >= line) {
      if (bytes > ahead) detail::ask_for_writing(target + ahead);
      copy(line);
    }
  }
  if (bytes != 0) std::memcpy(target, source, bytes);
}

}  // namespace weft
