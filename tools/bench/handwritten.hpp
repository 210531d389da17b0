// SPDX-License-Identifier: Apache-2.0
// What the kernels are measured against: loops as a program would write them, with the compiler's best flags for this
// machine. Run only where they were built.
#pragma once

#include <cstddef>

namespace weft::tools::handwritten {

void sum(const float* a, const float* b, float* target, std::size_t count);
void sum(const double* a, const double* b, double* target, std::size_t count);

/// The sum of all, in whatever order is fastest.
float total(const float* from, std::size_t count);
double total(const double* from, std::size_t count);

/// The lightest loop over three streams that a compiler does not see through: target = a xor b. Arrays are aligned to
/// 64 bytes, `bytes` is a multiple of 64.
void copy_two(const void* a, const void* b, void* target, std::size_t bytes);
/// The same past the caches, where the processor can.
void copy_two_streaming(const void* a, const void* b, void* target, std::size_t bytes);

}  // namespace weft::tools::handwritten
