// SPDX-License-Identifier: Apache-2.0
#include "instruction_sets.hpp"

#if HWY_ARCH_X86
#include <cpuid.h>
#elif HWY_ARCH_ARM_A64
#include <asm/hwcap.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#endif

namespace weft::kernels {
namespace {

#if HWY_ARCH_X86

struct registers {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
};

registers cpuid(unsigned leaf, unsigned part = 0) noexcept {
  registers found;
  __get_cpuid_count(leaf, part, &found.eax, &found.ebx, &found.ecx, &found.edx);
  return found;
}

constexpr bool has(unsigned found, unsigned all) noexcept { return (found & all) == all; }

/// What each target takes to be there, which includes that of those before it. What the system keeps for each thread
/// the compiler's own test looks at: of AVX2 and of AVX512F.
std::int64_t detect() noexcept {
  const registers basic = cpuid(1), extended = cpuid(0x80000001), more = cpuid(7);
  std::int64_t found = 0;
#ifdef HWY_SSE2
  found |= HWY_SSE2;
#endif
  if (!has(basic.ecx, bit_SSE3 | bit_SSSE3)) return found;
  found |= HWY_SSSE3;
  if (!has(basic.ecx, bit_SSE4_1 | bit_SSE4_2 | bit_PCLMUL | bit_AES)) return found;
  found |= HWY_SSE4;
  __builtin_cpu_init();
  constexpr unsigned bit_lzcnt = 1 << 5;  // compilers name it differently
  if (!__builtin_cpu_supports("avx2") || !has(basic.ecx, bit_FMA | bit_F16C) || !has(extended.ecx, bit_lzcnt) ||
      !has(more.ebx, bit_BMI | bit_BMI2))
    return found;
  found |= HWY_AVX2;
  if (!__builtin_cpu_supports("avx512f") || !has(more.ebx, bit_AVX512VL | bit_AVX512DQ | bit_AVX512BW | bit_AVX512CD))
    return found;
  found |= HWY_AVX3;
  if (!has(more.ecx, bit_AVX512VNNI | bit_VPCLMULQDQ | bit_AVX512VBMI | bit_AVX512VBMI2 | bit_VAES |
                         bit_AVX512VPOPCNTDQ | bit_AVX512BITALG | bit_GFNI))
    return found;
  found |= HWY_AVX3_DL;
#ifdef HWY_AVX3_ZEN4
  constexpr unsigned bit_avx512bf16 = 1 << 5;
  if (!has(cpuid(7, 1).eax, bit_avx512bf16)) return found;
  if (__builtin_cpu_is("amd")) found |= HWY_AVX3_ZEN4;
#endif
#ifdef HWY_AVX3_SPR
  constexpr unsigned bit_avx512fp16 = 1 << 23;
  if (has(more.edx, bit_avx512fp16)) found |= HWY_AVX3_SPR;
#endif
  return found;
}

#elif HWY_ARCH_ARM_A64

std::int64_t detect() noexcept {
  const unsigned long basic = ::getauxval(AT_HWCAP), more = ::getauxval(AT_HWCAP2);
  std::int64_t found = 0;
#ifdef HWY_NEON_WITHOUT_AES
  found |= HWY_NEON_WITHOUT_AES;
#endif
#ifdef HWY_NEON_BF16
  constexpr unsigned long all = HWCAP_AES | HWCAP_ASIMDHP | HWCAP_ASIMDDP;
  if ((basic & all) == all && (more & HWCAP2_BF16) != 0) found |= HWY_NEON_BF16;
#endif
  if ((basic & HWCAP_AES) != 0) found |= HWY_NEON;
  if ((basic & HWCAP_SVE) == 0) return found;
  const int vector_bytes = ::prctl(PR_SVE_GET_VL) & PR_SVE_VL_LEN_MASK;
  found |= HWY_SVE;
  if (vector_bytes == 32) found |= HWY_SVE_256;
  if ((more & HWCAP2_SVE2) == 0 || (more & HWCAP2_SVEAES) == 0) return found;
  found |= HWY_SVE2;
  if (vector_bytes == 16) found |= HWY_SVE2_128;
  return found;
}

#else

std::int64_t detect() noexcept { return 0; }

#endif

}  // namespace

std::int64_t supported_targets() noexcept { return detect() | HWY_STATIC_TARGET | HWY_EMU128 | HWY_SCALAR; }

hwy::ChosenTarget& chosen_targets() noexcept {
  static struct all : hwy::ChosenTarget {
    all() { Update(supported_targets()); }
  } chosen;
  return chosen;
}

}  // namespace weft::kernels
