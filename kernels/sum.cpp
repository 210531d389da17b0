// SPDX-License-Identifier: Apache-2.0
// Sums. Compiled once for every instruction set: foreach_target.h includes this file again and again.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sum.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "arithmetic-inl.hpp"
#include "families.hpp"
#include "instruction_sets.hpp"
#include "weft/kernels/scalar_operators.hpp"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels {
namespace HWY_NAMESPACE {

struct adding {
  template <class T>
  static HWY_INLINE T one(T a, T b) {
    return scalar::sum::apply(a, b);
  }
  template <class D, class V>
  static HWY_INLINE V apply(D, V a, V b) {
    return hn::Add(a, b);
  }
  /// Part by part.
  template <class T>
  static combine_function on_complex() {
    return parts_if<is_kept(type_of<std::complex<T>>), on_lanes<adding, T>, 2>();
  }
};

combine_function choose_sum(type element) { return choose_arithmetic<adding>(element); }

}  // namespace HWY_NAMESPACE
}  // namespace weft::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace weft::kernels {

combine_function sum_function(type element) { return WEFT_BEST(choose_sum)(element); }

}  // namespace weft::kernels
#endif
