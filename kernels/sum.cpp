// Sums. Compiled once for every instruction set: foreach_target.h includes this file again and again.
#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sum.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "arrays-inl.hpp"
#include "families.hpp"
#include "halves-inl.hpp"
#include "scalar_operators.hpp"

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
};

/// Integers as unsigned ones, which wrap around.
template <class T>
struct sum_of : vectors_of<T>, adding {
  using element = T;
};

combine_function choose_sum(type element) {
  switch (element) {
    case type::int8:
    case type::uint8:
      return &combine_arrays<sum_of<std::uint8_t>>;
    case type::int16:
    case type::uint16:
      return &combine_arrays<sum_of<std::uint16_t>>;
    case type::int32:
    case type::uint32:
      return &combine_arrays<sum_of<std::uint32_t>>;
    case type::int64:
    case type::uint64:
      return &combine_arrays<sum_of<std::uint64_t>>;
    case type::float16:
      return &combine_arrays<on_float16<adding>>;
    case type::bfloat16:
      return &combine_arrays<on_bfloat16<adding>>;
    case type::float32:
      return &combine_arrays<sum_of<float>>;
    case type::float64:
      return &combine_arrays<sum_of<double>>;
    case type::complex_float32:
      return &combine_parts<sum_of<float>, 2>;
    case type::complex_float64:
      return &combine_parts<sum_of<double>, 2>;
    default:
      return nullptr;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace weft::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace weft::kernels {

HWY_EXPORT(choose_sum);

combine_function sum_function(type element) { return HWY_DYNAMIC_DISPATCH(choose_sum)(element); }

}  // namespace weft::kernels
#endif
