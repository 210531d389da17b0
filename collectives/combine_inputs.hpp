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
  explicit array_operator(const request& call);
  /// The same, of which the kernel is known.
  array_operator(const request& call, kernels::combine_function known);

  kernels::combine_function kernel = nullptr;
  user_function custom;  ///< in place of the kernel
  std::size_t element_bytes = 1;
};

/// target[i] = inputs[0][first + i] o inputs[1][first + i] o ... for every i in [0, count); then the same into the
/// elements from `first` of each of `others`, but for those that are the target themselves. The inputs are combined in
/// their order: the first 16 of them, then the result with the next 15, and so on, each time as weft::kernels::combine
/// does. An element's bits depend on the inputs alone, not on who combines it, with which others, or where it goes.
/// Each array may be its rank's input and output at once; else they are apart. Throws what the caller's operator
/// throws.
void combine_inputs(const array_operator& by, std::span<const std::byte* const> inputs, std::size_t first,
                    std::size_t count, std::byte* target, std::span<std::byte* const> others);

/// outputs[r][i] = inputs[0][i] o ... o inputs[r][i] for every r, and every i from `first`, `count` of them; from left
/// to right. An output may be the same array as its rank's input; else all are apart. Throws likewise.
void scan_inputs(const array_operator& by, std::span<const std::byte* const> inputs, std::size_t first,
                 std::size_t count, std::span<std::byte* const> outputs);
/// The same without the rank's own: ... o inputs[r - 1][i], for every r but 0; and all of them into total[i], where it
/// is not null.
void exscan_inputs(const array_operator& by, std::span<const std::byte* const> inputs, std::size_t first,
                   std::size_t count, std::span<std::byte* const> outputs, std::byte* total);

}  // namespace weft::detail
