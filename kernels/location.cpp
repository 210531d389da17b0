// SPDX-License-Identifier: Apache-2.0
// min_location and max_location. Compiled once for every instruction set: foreach_target.h includes this file again and
// again.
#include <cstdint>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "location.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "arrays-inl.hpp"
#include "families.hpp"
#include "instruction_sets.hpp"
#include "weft/kernels/scalar_operators.hpp"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels {
namespace HWY_NAMESPACE {

/// min_location (`sign` 1) and max_location (`sign` -1) on {value, index}, two neighbouring lanes of integers. Of two
/// pairs, the one with the greater key wins, where a key is ordered first by its value, then by its index.
template <class T, int sign>
struct extreme_location_of : vectors_of<typename located<T>::index_type> {
  using element = located<T>;
  using lane = typename element::index_type;
  static HWY_INLINE element one(element a, element b) { return scalar::extreme_location<sign>::apply(a, b); }

#if !WEFT_KERNELS_SCALAR
  template <class D, class V>
  static HWY_INLINE V apply(D d, V a, V b) {
    a = with_quiet_nan(d, a);
    b = with_quiet_nan(d, b);
    const auto key_a = key(d, a), key_b = key(d, b);
    const auto greater = hn::VecFromMask(d, hn::Gt(key_b, key_a));
    const auto equal = hn::VecFromMask(d, hn::Eq(key_b, key_a));
    const auto take_b = hn::Or(hn::DupEven(greater), hn::And(hn::DupEven(equal), hn::DupOdd(greater)));
    return hn::IfThenElse(hn::MaskFromVec(take_b), b, a);
  }

 private:
  static constexpr lane most = std::numeric_limits<lane>::max();
  static constexpr lane infinity = sizeof(lane) == 4 ? lane{0x7f800000} : static_cast<lane>(0x7ff0000000000000);
  static constexpr lane quiet_nan = sizeof(lane) == 4 ? lane{0x7fc00000} : static_cast<lane>(0x7ff8000000000000);

  template <class D, class V>
  static HWY_INLINE auto is_nan(D d, V value) {
    return hn::Gt(hn::And(value, hn::Set(d, most)), hn::Set(d, infinity));
  }
  template <class D, class V>
  static HWY_INLINE V with_quiet_nan(D d, V pair) {
    if constexpr (std::is_integral_v<T>)
      return pair;
    else
      return hn::OddEven(pair, hn::IfThenElse(is_nan(d, pair), hn::Set(d, quiet_nan), pair));
  }
  /// In place of a value what is greater for the values that win, of an index its inverse.
  template <class D, class V>
  static HWY_INLINE V key(D d, V pair) {
    const auto inverse = hn::Not(pair);
    if constexpr (std::is_integral_v<T>) {
      return sign > 0 ? inverse : hn::OddEven(inverse, pair);
    } else {
      const auto ordered = hn::Xor(pair, hn::And(hn::BroadcastSignBit(pair), hn::Set(d, most)));
      const auto number = sign > 0 ? hn::Not(ordered) : ordered;
      return hn::OddEven(inverse, hn::IfThenElse(is_nan(d, pair), hn::Set(d, most), number));
    }
  }
#endif
};

template <operation by>
combine_function choose_extreme_location(type element) {
  constexpr int sign = by == operation::min_location ? 1 : -1;
  switch (element) {
    case type::located_float32:
      return arrays_if < is_kept(by) && is_kept(type::located_float32), extreme_location_of < float, sign >> ();
    case type::located_float64:
      return arrays_if < is_kept(by) && is_kept(type::located_float64), extreme_location_of < double, sign >> ();
    case type::located_int32:
      return arrays_if < is_kept(by) && is_kept(type::located_int32), extreme_location_of < std::int32_t, sign >> ();
    case type::located_int64:
      return arrays_if < is_kept(by) && is_kept(type::located_int64), extreme_location_of < std::int64_t, sign >> ();
    default:
      return nullptr;
  }
}

combine_function choose_location(operation combined_by, type element) {
  return combined_by == operation::min_location ? choose_extreme_location<operation::min_location>(element)
                                                : choose_extreme_location<operation::max_location>(element);
}

}  // namespace HWY_NAMESPACE
}  // namespace weft::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace weft::kernels {

combine_function location_function(operation combined_by, type element) {
  return WEFT_BEST(choose_location)(combined_by, element);
}

}  // namespace weft::kernels
#endif
