// SPDX-License-Identifier: Apache-2.0
// min and max of floats. Compiled once for every instruction set: foreach_target.h includes this file again and again.
#include <cstdint>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "float_order.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "arrays-inl.hpp"
#include "families.hpp"
#include "instruction_sets.hpp"
#include "weft/kernels/scalar_operators.hpp"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels {
namespace HWY_NAMESPACE {

/// min (`sign` 1) and max (`sign` -1). Spelled out, since what Highway's Min and Max do with NaNs and signed zeros
/// differs between targets.
template <class T, int sign>
struct float_extreme : vectors_of<T> {
  using element = T;
  static HWY_INLINE T one(T a, T b) { return scalar::extreme<sign>::apply(a, b); }
#if !WEFT_KERNELS_SCALAR
  template <class D, class V>
  static HWY_INLINE V apply(D d, V a, V b) {
    const auto nan = hn::Set(d, std::numeric_limits<T>::quiet_NaN());
    // Equal are the same bits, or zeros: of which the negative one has a bit more.
    const auto equal = sign > 0 ? hn::Or(a, b) : hn::And(a, b);
    const auto unequal = hn::IfThenElse(hn::Eq(a, b), equal, nan);
    const auto b_less = hn::IfThenElse(hn::Lt(b, a), sign > 0 ? b : a, unequal);
    return hn::IfThenElse(hn::Lt(a, b), sign > 0 ? a : b, b_less);
  }
#endif
};

/// The same for 16 bits, as integers that are ordered alike: the bits of the magnitude inverted where the sign is set,
/// which is its own inverse.
template <class Half, int sign>
struct half_extreme : vectors_of<std::int16_t> {
  using element = Half;
  static HWY_INLINE Half one(Half a, Half b) { return scalar::extreme<sign>::apply(a, b); }
#if !WEFT_KERNELS_SCALAR
  template <class D, class V>
  static HWY_INLINE V apply(D d, V a, V b) {
    const auto winner = sign > 0 ? hn::Min(key(d, a), key(d, b)) : hn::Max(key(d, a), key(d, b));
    const auto nan = hn::Set(d, static_cast<std::int16_t>(scalar::quiet_nan<Half>().bits()));
    return hn::IfThenElse(hn::Eq(winner, hn::Set(d, nan_key)), nan, ordered(d, winner));
  }

 private:
  /// Beyond every number.
  static constexpr std::int16_t nan_key = sign > 0 ? -0x8000 : 0x7fff;

  template <class D, class V>
  static HWY_INLINE V ordered(D d, V bits) {
    return hn::Xor(bits, hn::And(hn::BroadcastSignBit(bits), hn::Set(d, 0x7fff)));
  }
  template <class D, class V>
  static HWY_INLINE V key(D d, V bits) {
    const auto infinity = hn::Set(d, std::is_same_v<Half, float16> ? 0x7c00 : 0x7f80);
    const auto magnitude = hn::And(bits, hn::Set(d, 0x7fff));
    return hn::IfThenElse(hn::Gt(magnitude, infinity), hn::Set(d, nan_key), ordered(d, bits));
  }
#endif
};

template <operation by>
combine_function choose_float(type element) {
  constexpr int sign = by == operation::min ? 1 : -1;
  switch (element) {
    case type::float16:
      return arrays_if < is_kept(by) && is_kept(type::float16), half_extreme < float16, sign >> ();
    case type::bfloat16:
      return arrays_if < is_kept(by) && is_kept(type::bfloat16), half_extreme < bfloat16, sign >> ();
    case type::float32:
      return arrays_if < is_kept(by) && is_kept(type::float32), float_extreme < float, sign >> ();
    case type::float64:
      return arrays_if < is_kept(by) && is_kept(type::float64), float_extreme < double, sign >> ();
    default:
      return nullptr;
  }
}

combine_function choose_float_order(operation combined_by, type element) {
  return combined_by == operation::min ? choose_float<operation::min>(element) : choose_float<operation::max>(element);
}

}  // namespace HWY_NAMESPACE
}  // namespace weft::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace weft::kernels {

combine_function float_order_function(operation combined_by, type element) {
  return WEFT_BEST(choose_float_order)(combined_by, element);
}

}  // namespace weft::kernels
#endif
