// SPDX-License-Identifier: Apache-2.0
// Places for things that come and go, by number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

namespace weft::simulator {

/// It grows piece by piece: nothing moves, and no more than a piece is there that is not needed. A place that is given
/// back is the next one to be taken.
template <class T>
class chunked_pool {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  std::uint32_t add(const T& what) {
    const std::uint32_t here = unused_ == nothing ? next_place() : take_unused();
    new (&at(here)) T(what);
    return here;
  }
  void remove(std::uint32_t number) {
    new (&at(number)) std::uint32_t(unused_);
    unused_ = number;
  }
  T& operator[](std::uint32_t number) { return *reinterpret_cast<T*>(&at(number)); }
  const T& operator[](std::uint32_t number) const { return *reinterpret_cast<const T*>(&at(number)); }

 private:
  static constexpr std::uint32_t nothing = std::numeric_limits<std::uint32_t>::max();
  static constexpr unsigned bits = 12;
  static constexpr std::uint32_t mask = (1u << bits) - 1;
  struct alignas(T) place {
    std::byte bytes[sizeof(T)];
  };
  static_assert(sizeof(T) >= sizeof(std::uint32_t) && alignof(T) >= alignof(std::uint32_t));

  place& at(std::uint32_t number) const { return chunks_[number >> bits][number & mask]; }
  std::uint32_t next_place() {
    if ((count_ & mask) == 0) chunks_.push_back(std::make_unique_for_overwrite<place[]>(mask + 1));
    return count_++;
  }
  std::uint32_t take_unused() {
    const std::uint32_t here = unused_;
    unused_ = *reinterpret_cast<const std::uint32_t*>(&at(here));
    return here;
  }

  std::vector<std::unique_ptr<place[]>> chunks_;
  std::uint32_t count_ = 0;
  std::uint32_t unused_ = nothing;  ///< the first of a list of those given back
};

}  // namespace weft::simulator
