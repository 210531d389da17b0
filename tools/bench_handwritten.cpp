// Built for the machine that builds it: no header's inline functions, which others would then link.
#include "bench_handwritten.hpp"

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
