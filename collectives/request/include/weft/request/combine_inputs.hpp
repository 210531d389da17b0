// SPDX-License-Identifier: Apache-2.0
// Combining many ranks' vectors that can all be read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <weft/kernels/combine.hpp>
#include <weft/operators.hpp>

namespace weft::detail {

struct request;

/// An operator on arrays: a kernel, or the caller's.
struct array_operator {
  array_operator() = default;
  explicit array_operator(const request& call);
  /// The same, of which the kernel is known.
  array_operator(const request& call, kernels::combine_function known);

  kernels::combine_function kernel = nullptr;
  user_function custom;  ///< in place of the kernel
  std::size_t element_bytes = 1;
};

/// What one pass of a kernel combines.
inline constexpr std::size_t most_sources = 16;

/// target[i] = inputs[0][first + i] o inputs[1][first + i] o ... for every i in [0, count); then the same into the
/// elements from `first` of each of `others`, but for those that are the target themselves. The inputs are combined in
/// their order: the first 16 of them, then the result with the next 15, and so on, each time as weft::kernels::combine
/// does. An element's bits depend on the inputs alone, not on who combines it, with which others, or where it goes.
/// Each array may be its rank's input and output at once; else they are apart. Throws what the caller's operator
/// throws.
void combine_inputs(const array_operator& by, std::span<const std::byte* const> inputs, std::size_t first,
                    std::size_t count, std::byte* target, std::span<std::byte* const> others);

/// By an operator of the caller's: target[i] = sources[0][i] o sources[1][i] o ... for every i in [0, count), from
/// right to left. `target` may be one of the sources; else it overlaps none. `between` has room for at least one
/// element of `element_bytes` bytes. Throws what the operator throws.
void combine(const user_function& by, std::span<const void*> sources, void* target, std::size_t count,
             std::size_t element_bytes, std::span<std::byte> between);

/// Bytes that are combined at a time: with all that reads and writes them they stay in the nearest caches.
inline constexpr std::size_t near_bytes = 8 << 10;

}  // namespace weft::detail
