// SPDX-License-Identifier: Apache-2.0
// Built for the machine that builds it: no header's inline functions, which others would then link.
#include "handwritten.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace weft::tools::handwritten {

void sum(const float* __restrict a, const float* __restrict b, float* __restrict target, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) target[i] = a[i] + b[i];
}
void sum(const double* __restrict a, const double* __restrict b, double* __restrict target, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) target[i] = a[i] + b[i];
}

/// Of 512 bits; several at once, since one would wait for itself.
template <class T>
static T total_of(const T* from, std::size_t count) {
  typedef T vector __attribute__((vector_size(64), aligned(alignof(T)), may_alias));
  constexpr std::size_t lanes = sizeof(vector) / sizeof(T), vectors = 8;
  vector sums[vectors] = {};
  std::size_t i = 0;
  for (; i + vectors * lanes <= count; i += vectors * lanes)
#pragma GCC unroll 8
    for (std::size_t k = 0; k < vectors; ++k) sums[k] += *reinterpret_cast<const vector*>(from + i + k * lanes);
  T sum = 0;
  for (const vector& each : sums)
    for (std::size_t lane = 0; lane < lanes; ++lane) sum += each[lane];
  for (; i < count; ++i) sum += from[i];
  return sum;
}
float total(const float* from, std::size_t count) { return total_of(from, count); }
double total(const double* from, std::size_t count) { return total_of(from, count); }

void copy_two(const void* __restrict a, const void* __restrict b, void* __restrict target, std::size_t bytes) {
  const auto* const from_a = static_cast<const unsigned long long*>(a);
  const auto* const from_b = static_cast<const unsigned long long*>(b);
  auto* const to = static_cast<unsigned long long*>(target);
  for (std::size_t i = 0; i < bytes / sizeof *to; ++i) to[i] = from_a[i] ^ from_b[i];
}

#if defined(__AVX512F__)
void copy_two_streaming(const void* a, const void* b, void* target, std::size_t bytes) {
  const auto* const from_a = static_cast<const __m512i*>(a);
  const auto* const from_b = static_cast<const __m512i*>(b);
  for (std::size_t i = 0; i < bytes / sizeof(__m512i); ++i)
    _mm512_stream_si512(static_cast<__m512i*>(target) + i, _mm512_xor_si512(from_a[i], from_b[i]));
  _mm_sfence();
}
#elif defined(__x86_64__)
void copy_two_streaming(const void* a, const void* b, void* target, std::size_t bytes) {
  const auto* const from_a = static_cast<const __m128i*>(a);
  const auto* const from_b = static_cast<const __m128i*>(b);
  for (std::size_t i = 0; i < bytes / sizeof(__m128i); ++i)
    _mm_stream_si128(static_cast<__m128i*>(target) + i, _mm_xor_si128(from_a[i], from_b[i]));
  _mm_sfence();
}
#else
void copy_two_streaming(const void* a, const void* b, void* target, std::size_t bytes) {
  copy_two(a, b, target, bytes);
}
#endif

}  // namespace weft::tools::handwritten
