// SPDX-License-Identifier: Apache-2.0
// Integers as bytes, least significant first, text as bytes, and a length by which bytes show that they are whole.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace weft {

inline std::span<const std::byte> as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

inline std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

template <std::unsigned_integral T>
void append(std::vector<std::byte>& to, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) to.push_back(static_cast<std::byte>(value >> (8 * i)));
}

inline void append(std::vector<std::byte>& to, std::span<const std::byte> bytes) {
  to.resize(to.size() + bytes.size());  // GCC 14 takes what insert copies for too long
  std::ranges::copy(bytes, std::span(to).last(bytes.size()).begin());
}

/// Takes an integer off the front of `from`, which must be long enough.
template <std::unsigned_integral T>
T take(std::span<const std::byte>& from) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) value |= static_cast<T>(static_cast<T>(from[i]) << (8 * i));
  from = from.subspan(sizeof(T));
  return value;
}

/// Puts the length of `to` behind it, before a launcher keeps it.
inline void append_length(std::vector<std::byte>& to) { append(to, static_cast<std::uint64_t>(to.size())); }

/// Takes the length off again; false when it is not that of what stands before it.
inline bool take_length(std::vector<std::byte>& from) {
  if (from.size() < sizeof(std::uint64_t)) return false;
  const std::size_t size = from.size() - sizeof(std::uint64_t);
  auto length = std::span<const std::byte>(from).subspan(size);
  if (take<std::uint64_t>(length) != size) return false;
  from.resize(size);
  return true;
}

}  // namespace weft
