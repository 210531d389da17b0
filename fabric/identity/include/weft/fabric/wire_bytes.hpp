// SPDX-License-Identifier: Apache-2.0
// Integers and text as bytes, least significant byte first, and back with bounds: what comes from outside is never
// trusted to be long enough.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::fabric {

template <std::unsigned_integral T>
void put(std::vector<std::byte>& to, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) to.push_back(static_cast<std::byte>(value >> (8 * i)));
}

inline void put(std::vector<std::byte>& to, std::span<const std::byte> bytes) {
  to.resize(to.size() + bytes.size());  // GCC 14 takes what insert copies for too long
  std::ranges::copy(bytes, std::span(to).last(bytes.size()).begin());
}

/// `text` in a field of `width` bytes, cut or filled up with zeros.
inline void put_field(std::vector<std::byte>& to, std::string_view text, std::size_t width) {
  put(to, std::as_bytes(std::span(text.substr(0, width))));
  to.resize(to.size() + width - std::min(width, text.size()));
}

/// Takes values off the front of a span. What does not fit yields zeros and makes `good` false, for good.
class byte_reader {
 public:
  explicit byte_reader(std::span<const std::byte> bytes) noexcept : rest_(bytes) {}

  bool good() const noexcept { return good_; }
  std::span<const std::byte> rest() const noexcept { return rest_; }

  std::span<const std::byte> bytes(std::size_t count) noexcept {
    if (count > rest_.size()) {
      good_ = false;
      rest_ = {};
      return {};
    }
    const auto result = rest_.first(count);
    rest_ = rest_.subspan(count);
    return result;
  }

  template <std::unsigned_integral T>
  T number() noexcept {
    const auto from = bytes(sizeof(T));
    T value = 0;
    for (std::size_t i = 0; i < from.size(); ++i) value |= static_cast<T>(static_cast<T>(from[i]) << (8 * i));
    return value;
  }

  std::string text(std::size_t count) {
    const auto from = bytes(count);
    return {reinterpret_cast<const char*>(from.data()), from.size()};
  }

  /// The text in a field as `put_field` writes it, with what could not be printed made visible.
  std::string field(std::size_t width) {
    std::string result = text(width);
    if (const auto end = result.find('\0'); end != std::string::npos) result.resize(end);
    for (char& c : result)
      if (c < ' ' || c > '~') c = '?';
    return result;
  }

 private:
  std::span<const std::byte> rest_;
  bool good_ = true;
};

}  // namespace weft::fabric
