// SPDX-License-Identifier: Apache-2.0
// What the buffers of a benchmark hold: inputs that every rank can compute, and what no result is.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <weft/kernels/combine.hpp>
#include <weft/runtime.hpp>

namespace weft::tools {

/// splitmix64's finisher: every bit of the result depends on every bit of the argument.
inline std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// What a rank contributes: values of which the result is exact, and the same in whatever order they are combined. Sums
/// stay below 2^24 up to 2^18 ranks (halves: 2^8 up to as many ranks), products below 2^9.
template <class T>
T input_value(kernels::operation op, std::uint64_t random, int rank) {
  const int small = static_cast<int>(random % 127) - 63;
  const int sign = (random & 1) != 0 ? -1 : 1;
  const int factor = rank < 8 && (random >> 1 & 1) != 0 ? 2 * sign : sign;
  const bool adds = op == kernels::operation::sum, multiplies = op == kernels::operation::product;
  if constexpr (std::is_same_v<T, bool>) {
    return sign > 0;
  } else if constexpr (std::is_same_v<T, std::byte>) {
    return std::byte(random);
  } else if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>) {
    return T(static_cast<float>(adds ? small % 2 : multiplies ? factor : small));
  } else if constexpr (requires(T pair) { pair.index; }) {
    return {static_cast<decltype(T::value)>(small), static_cast<decltype(T::index)>(rank)};
  } else if constexpr (requires(T number) { number.imag(); }) {
    using part = typename T::value_type;
    if (adds) return {static_cast<part>(small), static_cast<part>(-small)};
    return sign > 0 ? T(static_cast<part>(factor)) : T(0, static_cast<part>(factor));
  } else {
    return static_cast<T>(multiplies ? factor : small);
  }
}

inline std::uint64_t stream_of(std::uint64_t seed, int rank) {
  return mixed(mixed(seed) + static_cast<std::uint64_t>(rank));
}

/// The inputs of a rank from element `from` on.
template <class T>
void fill(std::span<T> values, kernels::operation op, std::uint64_t seed, int rank, std::size_t from = 0) {
  const std::uint64_t stream = stream_of(seed, rank);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = input_value<T>(op, mixed(stream + (from + i) * 0x9e3779b97f4a7c15u), rank);
}

/// About 1.5e9 as an integer of 32 bits, far more in longer types: no result is as large.
template <class T>
void poison(std::span<T> values) {
  std::ranges::fill(std::as_writable_bytes(values), std::byte{0x5a});
}

template <class T>
std::int64_t count_differences(std::span<const T> values, std::span<const T> exact) {
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < exact.size(); ++i)
    if (!(values[i] == exact[i])) ++wrong;
  return wrong;
}

/// An array that, unlike a vector, holds bools as they are: in the arena of that runtime's node, or for null in memory
/// of its process alone. Throws std::bad_alloc, also where the arena has no room for it: nothing else is to stand for
/// that.
template <class T>
class array {
 public:
  explicit array(std::size_t count, runtime* arena = nullptr) : count_(count) {
    if (arena == nullptr) {
      own_ = std::make_unique<T[]>(count);
    } else if (count > 0) {
      shared_ = arena->allocate<T>(count);
      if (!shared_.shared()) throw std::bad_alloc();
    }
  }
  std::span<T> span() const { return {own_ != nullptr ? own_.get() : const_cast<T*>(shared_.data()), count_}; }

 private:
  std::unique_ptr<T[]> own_;
  node_array<T> shared_;
  std::size_t count_;
};

}  // namespace weft::tools
