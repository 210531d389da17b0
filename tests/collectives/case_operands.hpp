// SPDX-License-Identifier: Apache-2.0
// What the ranks of a collective case put in, what comes of it, and where it is put.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <tuple>
#include <vector>
#include <weft/kernels/combine.hpp>
#include <weft/runtime.hpp>

#include "affine.hpp"

namespace weft_test::cases {

inline std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// Small whole numbers: exact in every type, however they are combined. (Modulo 256 where they do not fit.)
template <class T>
T operand(int rank, std::size_t i, weft::kernels::operation op) {
  if constexpr (std::same_as<T, affine>)
    return of_rank(rank, i);
  else {
    const auto random = mixed(static_cast<std::uint64_t>(rank) * 7919 + i * 104729 + 12345);
    if (op != weft::kernels::operation::product) return static_cast<T>(static_cast<int>(random % 2001) - 1000);
    const int magnitude = rank < 8 && random % 4 == 0 ? 2 : 1;
    return static_cast<T>(random % 3 == 0 ? -magnitude : magnitude);
  }
}

template <class T>
T combined(T a, T b, weft::kernels::operation op) {
  if constexpr (std::same_as<T, affine>)
    return after(a, b);
  else
    switch (op) {
      case weft::kernels::operation::sum:
        return static_cast<T>(a + b);
      case weft::kernels::operation::product:
        return static_cast<T>(a * b);
      case weft::kernels::operation::min:
        return std::min(a, b);
      default:
        return std::max(a, b);
    }
}

/// The operands of the ranks before `end`, combined one after another: elements [first, first + count).
template <class T>
std::vector<T> combined_operands(int end, std::size_t first, std::size_t count, weft::kernels::operation op) {
  std::vector<T> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = operand<T>(0, first + i, op);
  for (int r = 1; r < end; ++r)
    for (std::size_t i = 0; i < count; ++i) all[i] = combined(all[i], operand<T>(r, first + i, op), op);
  return all;
}

/// The same of all `ranks`, which the first rank that asks works out for those that ask after it.
template <class T>
std::shared_ptr<const std::vector<T>> combined_by_all(int ranks, std::size_t first, std::size_t count,
                                                      weft::kernels::operation op) {
  using shape = std::tuple<int, std::size_t, std::size_t, weft::kernels::operation>;
  static std::mutex guard;
  static shape latest_shape;
  static std::shared_ptr<const std::vector<T>> latest;
  const std::lock_guard lock(guard);
  if (latest == nullptr || latest_shape != shape(ranks, first, count, op)) {
    latest = std::make_shared<const std::vector<T>>(combined_operands<T>(ranks, first, count, op));
    latest_shape = {ranks, first, count, op};
  }
  return latest;
}

/// Elements with guards at both ends: part of an array of `node`, where that is not null.
template <class T>
class guarded {
 public:
  explicit guarded(std::size_t count, weft::runtime* node = nullptr)
      : own_(node == nullptr ? count + 2 * guard : 0), all_(own_) {
    if (node != nullptr) all_ = (shared_ = node->allocate<T>(count + 2 * guard)).span();
    std::ranges::fill(all_, marker());
  }
  std::span<T> values() { return all_.subspan(guard, all_.size() - 2 * guard); }
  bool whole_outside() const {
    const auto whole = [](const T& x) { return x == marker(); };
    return std::all_of(all_.begin(), all_.begin() + guard, whole) && std::all_of(all_.end() - guard, all_.end(), whole);
  }
  static T marker() {
    if constexpr (std::same_as<T, affine>)
      return {77, 77};
    else
      return static_cast<T>(-77);
  }

 private:
  static constexpr std::ptrdiff_t guard = 8;
  std::vector<T> own_;
  weft::node_array<T> shared_;
  std::span<T> all_;
};

}  // namespace weft_test::cases
