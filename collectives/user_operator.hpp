// Operators of the caller's on raw arrays.
#pragma once

#include <cstddef>
#include <span>
#include <weft/operators.hpp>

namespace weft::detail {

/// target[i] = sources[0][i] o sources[1][i] o ... for every i in [0, count), from right to left. `target` may be one
/// of the sources; else it overlaps none. `between` has room for at least one element of `element_bytes` bytes. Throws
/// what the operator throws.
void combine(const user_function& by, std::span<const void*> sources, void* target, std::size_t count,
             std::size_t element_bytes, std::span<std::byte> between);

}  // namespace weft::detail
