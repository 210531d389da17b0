// SPDX-License-Identifier: Apache-2.0
// min and max of integers. Compiled once for every instruction set: foreach_target.h includes this file again and
// again.
#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "integer_order.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "arrays-inl.hpp"
#include "families.hpp"
#include "instruction_sets.hpp"
#include "weft/kernels/scalar_operators.hpp"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels {
namespace HWY_NAMESPACE {

template <class T>
struct integer_minimum : vectors_of<T> {
  using element = T;
  static HWY_INLINE T one(T a, T b) { return scalar::extreme<1>::apply(a, b); }
  template <class D, class V>
  static HWY_INLINE V apply(D, V a, V b) {
    return hn::Min(a, b);
  }
};

template <class T>
struct integer_maximum : vectors_of<T> {
  using element = T;
  static HWY_INLINE T one(T a, T b) { return scalar::extreme<-1>::apply(a, b); }
  template <class D, class V>
  static HWY_INLINE V apply(D, V a, V b) {
    return hn::Max(a, b);
  }
};

template <operation by, template <class> class Operator>
combine_function choose_integer(type element) {
  switch (element) {
    case type::int8:
      return arrays_if < is_kept(by) && is_kept(type::int8), Operator < std::int8_t >> ();
    case type::int16:
      return arrays_if < is_kept(by) && is_kept(type::int16), Operator < std::int16_t >> ();
    case type::int32:
      return arrays_if < is_kept(by) && is_kept(type::int32), Operator < std::int32_t >> ();
    case type::int64:
      return arrays_if < is_kept(by) && is_kept(type::int64), Operator < std::int64_t >> ();
    case type::uint8:
      return arrays_if < is_kept(by) && is_kept(type::uint8), Operator < std::uint8_t >> ();
    case type::uint16:
      return arrays_if < is_kept(by) && is_kept(type::uint16), Operator < std::uint16_t >> ();
    case type::uint32:
      return arrays_if < is_kept(by) && is_kept(type::uint32), Operator < std::uint32_t >> ();
    case type::uint64:
      return arrays_if < is_kept(by) && is_kept(type::uint64), Operator < std::uint64_t >> ();
    default:
      return nullptr;
  }
}

combine_function choose_integer_order(operation combined_by, type element) {
  return combined_by == operation::min ? choose_integer<operation::min, integer_minimum>(element)
                                       : choose_integer<operation::max, integer_maximum>(element);
}

}  // namespace HWY_NAMESPACE
}  // namespace weft::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace weft::kernels {

combine_function integer_order_function(operation combined_by, type element) {
  return WEFT_BEST(choose_integer_order)(combined_by, element);
}

}  // namespace weft::kernels
#endif
