// SPDX-License-Identifier: Apache-2.0
// Products. Compiled once for every instruction set: foreach_target.h includes this file again and again.
#include <complex>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "product.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "arithmetic-inl.hpp"
#include "families.hpp"
#include "instruction_sets.hpp"
#include "weft/kernels/scalar_operators.hpp"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels {
namespace HWY_NAMESPACE {

/// Complex numbers {real, imaginary} in two neighbouring lanes.
template <class T>
struct complex_product_of : vectors_of<T> {
  using element = std::complex<T>;
  static HWY_INLINE element one(element a, element b) { return scalar::product::apply(a, b); }
#if !WEFT_KERNELS_SCALAR
  template <class D, class V>
  static HWY_INLINE V apply(D d, V a, V b) {
    const auto by_real = hn::Mul(hn::DupEven(a), b);
    const auto by_imaginary = hn::Mul(hn::DupOdd(a), hn::Reverse2(d, b));
    return hn::OddEven(hn::Add(by_real, by_imaginary), hn::Sub(by_real, by_imaginary));
  }
#endif
};

struct multiplying {
  template <class T>
  static HWY_INLINE T one(T a, T b) {
    return scalar::product::apply(a, b);
  }
  template <class T>
  static combine_function on_complex() {
    return arrays_if<is_kept(type_of<std::complex<T>>), complex_product_of<T>>();
  }
#if !WEFT_KERNELS_SCALAR
  template <class D, class V>
  static HWY_INLINE V apply(D d, V a, V b) {
    if constexpr (sizeof(hn::TFromD<D>) == 1)
      return multiply_bytes(d, a, b);
    else
      return hn::Mul(a, b);
  }

 private:
  /// No instruction set multiplies bytes: the even and the odd ones apart, in lanes of 16 bits.
  template <class D, class V>
  static HWY_INLINE V multiply_bytes(D d, V a, V b) {
    const hn::RepartitionToWide<D> wide;
    const auto wide_a = hn::BitCast(wide, a), wide_b = hn::BitCast(wide, b);
    const auto even = hn::And(hn::Mul(wide_a, wide_b), hn::Set(wide, 0xff));
    const auto odd = hn::Mul(hn::ShiftRight<8>(wide_a), hn::ShiftRight<8>(wide_b));
    return hn::BitCast(d, hn::Or(even, hn::ShiftLeft<8>(odd)));
  }
#endif
};

combine_function choose_product(type element) {
  if constexpr (is_kept(operation::product)) return choose_arithmetic<multiplying>(element);
  return nullptr;
}

}  // namespace HWY_NAMESPACE
}  // namespace weft::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace weft::kernels {

combine_function product_function(type element) { return WEFT_BEST(choose_product)(element); }

}  // namespace weft::kernels
#endif
