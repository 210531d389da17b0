// SPDX-License-Identifier: Apache-2.0
// Arithmetic on 16-bit floats: in float, rounded to nearest even. Included once for every instruction set.
#if defined(WEFT_KERNELS_HALVES) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_HALVES
#undef WEFT_KERNELS_HALVES
#else
#define WEFT_KERNELS_HALVES
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "arrays-inl.hpp"
#include "weft/kernels/half.hpp"

#if !WEFT_KERNELS_SCALAR

HWY_BEFORE_NAMESPACE();
namespace weft::kernels {
namespace HWY_NAMESPACE {

/// The same floats, but for NaNs: each becomes the quiet one without sign or payload.
template <class D>
HWY_INLINE hn::Vec<D> with_quiet_nan(D df, hn::Vec<D> value) {
  const auto nan = hn::BitCast(df, hn::Set(hn::RebindToUnsigned<D>(), 0x7fc00000));
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  // In one instruction, by a table of what each class of numbers becomes: NaNs (0, 1) the first operand (0), the others
  // the second (1).
  if constexpr (sizeof value == 64)
    return hn::Vec<D>{_mm512_fixupimm_ps(nan.raw, value.raw, _mm512_set1_epi32(0x11111100), 0)};
#endif
  return hn::IfThenElse(hn::Eq(value, value), value, nan);
}

/// (a + b + 1) / 2 of unsigned lanes, without losing the carry: Highway's own (1.0.3 and 1.2) loses it on SVE, which
/// has no instruction for it before SVE2.
template <class V>
HWY_INLINE V half_of_sum(V a, V b) {
#if HWY_TARGET == HWY_SVE || HWY_TARGET == HWY_SVE_256
  return hn::Sub(hn::Or(a, b), hn::ShiftRight<1>(hn::Xor(a, b)));
#else
  return hn::AverageRound(a, b);
#endif
}

/// The bfloat16 of floats in `odd` and `even` lanes of 32 bits, each rounded to nearest even, none of them a NaN with
/// anything in its lower half. `high` is to become one more where the rest `low` is more than one half, or one half
/// beside an odd one: where there is a carry from low + 0x7fff + odd, which is the upper bit of
/// (low + (0x7ffe + odd) + 1) / 2.
template <class D, class F>
HWY_INLINE hn::Vec<D> round_to_bfloat16(D d, F odd, F even) {
  const hn::RepartitionToWide<D> d32;
  const auto odd_bits = hn::BitCast(d32, odd), even_bits = hn::BitCast(d32, even);
  const auto high = hn::OddEven(hn::BitCast(d, odd_bits), hn::BitCast(d, hn::ShiftRight<16>(even_bits)));
  const auto low = hn::OddEven(hn::BitCast(d, hn::ShiftLeft<16>(odd_bits)), hn::BitCast(d, even_bits));
  const auto almost_half = hn::OrAnd(hn::Set(d, 0x7ffe), high, hn::Set(d, 1));
  return hn::Add(high, hn::ShiftRight<15>(half_of_sum(low, almost_half)));
}

/// Two vectors of bfloat16: those in the odd lanes are floats with something small below, which is masked off, those in
/// the even lanes are floats once they are shifted.
template <class Arithmetic, class D>
HWY_INLINE hn::Vec<D> apply_to_bfloat16(D d, hn::Vec<D> a, hn::Vec<D> b) {
  const hn::RepartitionToWide<D> d32;
  const hn::RebindToFloat<decltype(d32)> df;
  const auto upper = hn::Set(d32, 0xffff0000u);
  const auto wide_a = hn::BitCast(d32, a), wide_b = hn::BitCast(d32, b);
  const auto odd =
      Arithmetic::apply(df, hn::BitCast(df, hn::And(wide_a, upper)), hn::BitCast(df, hn::And(wide_b, upper)));
  const auto even =
      Arithmetic::apply(df, hn::BitCast(df, hn::ShiftLeft<16>(wide_a)), hn::BitCast(df, hn::ShiftLeft<16>(wide_b)));
  return round_to_bfloat16(d, with_quiet_nan(df, odd), with_quiet_nan(df, even));
}

// Where there are instructions for float16, they are right. What Highway 1.0.3 puts in their place elsewhere truncates,
// and takes NaNs for infinities.
#if HWY_ARCH_ARM_A64 || (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2)
template <class D16>
HWY_INLINE hn::Vec<hn::Rebind<float, D16>> widen_float16(D16, hn::Vec<D16> halves) {
  const hn::Rebind<hwy::float16_t, D16> dh;
  return hn::PromoteTo(hn::Rebind<float, D16>(), hn::BitCast(dh, halves));
}
template <class D16>
HWY_INLINE hn::Vec<D16> round_to_float16(D16 d, hn::Vec<hn::Rebind<float, D16>> value) {
  const hn::Rebind<hwy::float16_t, D16> dh;
  return hn::BitCast(d, hn::DemoteTo(dh, with_quiet_nan(hn::Rebind<float, D16>(), value)));
}
#else
/// The magnitude as bits of a float is 2^112 times too small; infinities and NaNs then get their exponent.
template <class D16>
HWY_INLINE hn::Vec<hn::Rebind<float, D16>> widen_float16(D16, hn::Vec<D16> halves) {
  const hn::Rebind<float, D16> df;
  const hn::RebindToSigned<decltype(df)> di;
  const auto bits = hn::PromoteTo(di, halves);
  const auto magnitude = hn::And(bits, hn::Set(di, 0x7fff));
  const auto sign = hn::ShiftLeft<16>(hn::Xor(bits, magnitude));
  const auto scaled = hn::Mul(hn::BitCast(df, hn::ShiftLeft<13>(magnitude)), hn::Set(df, 0x1p112f));
  const auto special = hn::VecFromMask(di, hn::Gt(magnitude, hn::Set(di, 0x7bff)));
  const auto exponent = hn::And(special, hn::Set(di, 0x7f800000));
  return hn::BitCast(df, hn::Or(hn::Or(hn::BitCast(di, scaled), exponent), sign));
}

/// As detail::binary16::round, but for subnormals: added to 1/2, whose last place is 2^-24, they round to it by
/// themselves.
template <class D16>
HWY_INLINE hn::Vec<D16> round_to_float16(D16 d, hn::Vec<hn::Rebind<float, D16>> value) {
  const hn::Rebind<float, D16> df;
  const hn::RebindToSigned<decltype(df)> di;
  const auto bits = hn::BitCast(di, value);
  const auto sign = hn::And(hn::ShiftRight<16>(bits), hn::Set(di, 0x8000));
  const auto magnitude = hn::And(bits, hn::Set(di, 0x7fffffff));
  const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(di, 1));
  const auto normal =
      hn::ShiftRight<13>(hn::Add(hn::Add(hn::Sub(magnitude, hn::Set(di, 112 << 23)), odd), hn::Set(di, 0xfff)));
  const auto one_half = hn::Set(df, 0.5f);
  const auto subnormal =
      hn::Sub(hn::BitCast(di, hn::Add(hn::BitCast(df, magnitude), one_half)), hn::BitCast(di, one_half));
  auto result = hn::IfThenElse(hn::Lt(magnitude, hn::Set(di, 0x38800000)), subnormal, normal);
  result = hn::IfThenElse(hn::Lt(magnitude, hn::Set(di, 0x47800000)), result, hn::Set(di, 0x7c00));
  result = hn::Or(result, sign);
  result = hn::IfThenElse(hn::Gt(magnitude, hn::Set(di, 0x7f800000)), hn::Set(di, 0x7e00), result);
  return hn::DemoteTo(d, result);
}
#endif

/// Two vectors of float16, half as long as the vectors of float.
template <class Arithmetic, class D>
HWY_INLINE hn::Vec<D> apply_to_float16(D d, hn::Vec<D> a, hn::Vec<D> b) {
  const hn::Rebind<float, D> df;
  return round_to_float16(d, Arithmetic::apply(df, widen_float16(d, a), widen_float16(d, b)));
}

}  // namespace HWY_NAMESPACE
}  // namespace weft::kernels
HWY_AFTER_NAMESPACE();

#endif  // !WEFT_KERNELS_SCALAR

HWY_BEFORE_NAMESPACE();
namespace weft::kernels {
namespace HWY_NAMESPACE {

#if !WEFT_KERNELS_SCALAR
/// The tags of float16: half as long as vectors of float.
struct vectors_of_float16 {
  using full = hn::Rebind<std::uint16_t, hn::ScalableTag<float>>;
  using small = hn::Rebind<std::uint16_t, hn::CappedTag<float, 4>>;
};
#else
struct vectors_of_float16 {};
#endif

/// Arithmetic, which is `one` on elements and `apply` on vectors of float, on float16 and on bfloat16.
template <class Arithmetic>
struct on_float16 : vectors_of_float16 {
  using element = float16;
  static float16 one(float16 a, float16 b) { return Arithmetic::one(a, b); }
#if !WEFT_KERNELS_SCALAR
  template <class D, class V>
  static HWY_INLINE V apply(D d, V a, V b) {
    return apply_to_float16<Arithmetic>(d, a, b);
  }
#endif
};

template <class Arithmetic>
struct on_bfloat16 : vectors_of<std::uint16_t> {
  using element = bfloat16;
  static bfloat16 one(bfloat16 a, bfloat16 b) { return Arithmetic::one(a, b); }
#if !WEFT_KERNELS_SCALAR
  template <class D, class V>
  static HWY_INLINE V apply(D d, V a, V b) {
    return apply_to_bfloat16<Arithmetic>(d, a, b);
  }
#endif
};

}  // namespace HWY_NAMESPACE
}  // namespace weft::kernels
HWY_AFTER_NAMESPACE();

#endif
