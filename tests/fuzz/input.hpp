// SPDX-License-Identifier: Apache-2.0
// What libFuzzer gives to a target, taken apart: numbers off the front, zeros once it has been used up.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace weft_fuzz {

class input {
 public:
  input(const std::uint8_t* data, std::size_t size) : left_(reinterpret_cast<const std::byte*>(data), size) {}

  bool empty() const noexcept { return left_.empty(); }

  template <class Number = std::uint8_t>
  Number take() {
    static_assert(std::is_integral_v<Number>);
    Number value = 0;
    const auto bytes = take_bytes(sizeof value);
    if (!bytes.empty()) std::memcpy(&value, bytes.data(), bytes.size());
    return value;
  }
  /// One of 0 to `many` - 1.
  std::size_t below(std::size_t many) { return take() % many; }
  /// One of these.
  template <class Number, std::size_t many>
  Number one_of(const Number (&choices)[many]) {
    return choices[below(many)];
  }

  /// At most so many.
  std::span<const std::byte> take_bytes(std::size_t most) {
    const auto taken = left_.first(std::min(most, left_.size()));
    left_ = left_.subspan(taken.size());
    return taken;
  }
  std::span<const std::byte> rest() { return take_bytes(left_.size()); }

 private:
  std::span<const std::byte> left_;
};

inline std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// What must hold whatever the input is.
inline void require(bool holds) {
  if (!holds) std::abort();
}

/// A file that has a path, for readers of files; one a process, written anew for each input.
class file {
 public:
  file() : descriptor_(::memfd_create("fuzz", MFD_CLOEXEC)), path_("/proc/self/fd/" + std::to_string(descriptor_)) {
    require(descriptor_ >= 0);
  }
  ~file() { ::close(descriptor_); }
  file(const file&) = delete;
  file& operator=(const file&) = delete;

  const std::string& with(std::span<const std::byte> content) {
    require(::ftruncate(descriptor_, 0) == 0 &&
            ::pwrite(descriptor_, content.data(), content.size(), 0) == static_cast<ssize_t>(content.size()));
    return path_;
  }

 private:
  int descriptor_;
  std::string path_;
};

}  // namespace weft_fuzz
