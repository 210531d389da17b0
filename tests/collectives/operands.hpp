// SPDX-License-Identifier: Apache-2.0
// What collectives are called with in tests, and what comes of it: every element type and operator.
#pragma once

#include <algorithm>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <tuple>
#include <utility>
#include <valarray>
#include <vector>
#include <weft/kernels/combine.hpp>

#include "kernels/reference.hpp"

namespace weft_test {

using weft::kernels::operation;

/// Every element type, by number.
using types = std::tuple<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
                         std::uint32_t, std::uint64_t, weft::float16, weft::bfloat16, float, double,
                         std::complex<float>, std::complex<double>, weft::located<float>, weft::located<double>,
                         weft::located<std::int32_t>, weft::located<std::int64_t>, bool, std::byte>;

/// Calls `body` with a value of element type number `type`.
template <class Body>
void with_type(std::size_t type, Body&& body) {
  const auto visit = [&]<std::size_t... each>(std::index_sequence<each...>) {
    ((each == type ? body(std::tuple_element_t<each, types>()) : void()), ...);
  };
  visit(std::make_index_sequence<std::tuple_size_v<types>>());
}

/// The operators of an element type, each a case of its own.
template <class T>
std::vector<operation> operators_of() {
  std::vector<operation> all;
  for (const operation op : weft::kernels::all_operations())
    if (weft::kernels::has(op, weft::kernels::type_of<T>)) all.push_back(op);
  return all;
}

/// Operands whose result is exact, and the same in any order.
template <class T>
T operand(int rank, std::size_t i, operation op) {
  const auto mixed = (static_cast<std::uint64_t>(rank) * 7919 + i * 104729 + 12345) * 0x9e3779b97f4a7c15u >> 40;
  const int small = static_cast<int>(mixed % 2001) - 1000;
  const int sign = mixed % 3 == 0 ? -1 : 1;
  const int factor = rank < 6 && mixed % 4 == 0 ? 2 * sign : sign;
  if constexpr (std::same_as<T, bool>) {
    return mixed % 2 == 0;
  } else if constexpr (std::same_as<T, std::byte>) {
    return std::byte(mixed);
  } else if constexpr (is_located<T>) {
    return {static_cast<decltype(T::value)>(small % 4), static_cast<decltype(T::index)>(mixed / 8 % 5)};
  } else if constexpr (is_half<T>) {
    return T(static_cast<float>(op == operation::sum ? small % 2 : op == operation::product ? factor : small));
  } else if constexpr (is_complex<T>) {
    using part = typename T::value_type;
    if (op == operation::sum) return {static_cast<part>(small), static_cast<part>(small / 2)};
    return mixed % 2 == 0 ? T(static_cast<part>(sign)) : T(0, static_cast<part>(sign));
  } else {
    return static_cast<T>(op == operation::product ? factor : small);
  }
}

template <class T>
std::valarray<T> operands(int rank, std::size_t count, operation op) {
  std::valarray<T> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = operand<T>(rank, i, op);
  return all;
}

template <class T>
std::valarray<T> serial(int ranks, std::size_t count, operation op) {
  std::valarray<T> all = operands<T>(0, count, op);
  for (int r = 1; r < ranks; ++r)
    for (std::size_t i = 0; i < count; ++i) all[i] = reference(op, all[i], operand<T>(r, i, op));
  return all;
}

template <class T>
std::span<T> span_of(std::valarray<T>& values) {
  return {std::begin(values), values.size()};
}

/// A loop: GCC 12 takes the lengths that std::copy finds here for impossible ones.
template <class T>
void copy(const std::valarray<T>& from, std::span<T> to) {
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = from[i];
}

/// Elements with guards at both ends. They begin as bytes that no test gives.
template <class T>
class guarded {
 public:
  explicit guarded(std::size_t count) : all_(count + 2 * guard) {
    std::memset(static_cast<void*>(std::begin(all_)), marker, all_.size() * sizeof(T));
  }
  std::span<T> values() { return span_of(all_).subspan(guard, all_.size() - 2 * guard); }
  bool untouched_outside() { return untouched(span_of(all_).first(guard)) && untouched(span_of(all_).last(guard)); }
  static bool untouched(std::span<const T> elements) {
    const auto bytes = std::as_bytes(elements);
    return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte(marker); });
  }

 private:
  static constexpr int marker = 0xb3;
  static constexpr std::size_t guard = 8;
  std::valarray<T> all_;
};

}  // namespace weft_test
