// SPDX-License-Identifier: Apache-2.0
// Memory that elements of any type may lie in that collectives take.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace weft::detail {

/// A cache line, and what operators of the caller's may expect of their elements (operators.hpp).
inline constexpr std::size_t element_alignment = 64;

struct aligned_delete {
  void operator()(std::byte* memory) const noexcept { ::operator delete (memory, std::align_val_t{element_alignment}); }
};
using aligned_bytes = std::unique_ptr<std::byte[], aligned_delete>;

inline aligned_bytes make_aligned_bytes(std::size_t bytes) {
  return aligned_bytes(static_cast<std::byte*>(::operator new (bytes, std::align_val_t{element_alignment})));
}

}  // namespace weft::detail
