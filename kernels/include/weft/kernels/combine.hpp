// SPDX-License-Identifier: Apache-2.0
// Reductions on raw arrays: one operator, one element type, 1 to 16 sources, the best instruction set of this machine.
#pragma once

#include <weft/api.h>

#include <cstddef>
#include <string_view>
#include <weft/kernels/types.hpp>

namespace weft::kernels {

/// target[i] = sources[0][i] o sources[1][i] o ... for every i in [0, count), in the order of this tree: of k sources,
/// the left subtree takes as many as the largest power of two below k.
///
///     k = 2      3          4            6                7                 16
///        o       o          o            o                o                  o
///       / \     / \       /   \        /   \            /   \              /   \        .
///      0   1   o   2     o     o      4     o          4     3            8     8       k: such a tree of
///             / \       / \   / \    tree  / \        tree  tree         tree  tree     k sources
///            0   1     0   1 2   3        4   5
///
/// The tree is the same on every instruction set, and every combination in it gives the same bits (but for the payload
/// of a NaN that is a sum or a product): the result does not depend on the machine. It takes one pass over memory
/// however many sources there are. One source is copied as it is, NaNs included.
///
/// `source_count` is 1 to 16; `count` is in elements and may be 0. The sources may be the same array several times and
/// `target` may be exactly one of them; otherwise it overlaps none. Any alignment, even of bytes. Not one byte beyond
/// either end of any array is read or written. Neither blocks nor allocates nor throws; may be called by any thread.
using combine_function = void (*)(const void* const* sources, std::size_t source_count, void* target,
                                  std::size_t count);

/// Whether the operator exists on the type, and this build has its kernels: all but those that -Dtypes and -Doperators
/// leave out. Any thread.
WEFT_API bool is_built(operation combined_by, type element) noexcept;

/// The function for `combined_by` on `element`, for the best instruction set of this machine: the look-up is done here,
/// once a plan, and not in the function. Any thread. Throws std::invalid_argument, with what `refusal` says, unless
/// `is_built(combined_by, element)`.
WEFT_API combine_function combine(operation combined_by, type element);

/// The name of the instruction set that `combine` chooses, as Highway spells it: "AVX3", "NEON", "SCALAR", ...
WEFT_API std::string_view instruction_set() noexcept;

}  // namespace weft::kernels
