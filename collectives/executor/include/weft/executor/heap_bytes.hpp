// SPDX-License-Identifier: Apache-2.0
// What is taken of the heap.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace weft::detail {

/// Bytes that memory for so many takes of the heap: glibc's malloc puts a word before it and gives pairs of words, two
/// at least.
constexpr std::size_t heap_bytes(std::size_t asked) noexcept {
  constexpr std::size_t word = sizeof(void*), pair = 2 * word;
  return std::max(2 * pair, (asked + word + pair - 1) / pair * pair);
}

/// Of a vector, as far as it has grown.
template <class T>
std::size_t heap_bytes(const std::vector<T>& of) noexcept {
  return of.capacity() == 0 ? 0 : heap_bytes(of.capacity() * sizeof(T));
}

/// Of an object that shared pointers own, made at once with the counts of those.
template <class T>
constexpr std::size_t heap_bytes_shared() noexcept {
  return heap_bytes(2 * sizeof(void*) + sizeof(T));
}

}  // namespace weft::detail
