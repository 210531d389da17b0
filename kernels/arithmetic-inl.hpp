// SPDX-License-Identifier: Apache-2.0
// Sums and products: which operator on arrays an arithmetic becomes for each element type. Included once for every
// instruction set.
//
// An arithmetic is a type with
//   one(a, b)              two elements, or two parts of complex ones
//   apply(d, a, b)         two vectors of numbers
//   on_complex<T>()        the function for std::complex<T>
#if defined(WEFT_KERNELS_ARITHMETIC) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_ARITHMETIC
#undef WEFT_KERNELS_ARITHMETIC
#else
#define WEFT_KERNELS_ARITHMETIC
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "arrays-inl.hpp"
#include "halves-inl.hpp"
#include "weft/kernels/combine.hpp"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels {
namespace HWY_NAMESPACE {

/// On elements that are lanes.
template <class Arithmetic, class T>
struct on_lanes : vectors_of<T>, Arithmetic {
  using element = T;
};

/// Integers as unsigned ones, which wrap around.
template <class Arithmetic>
combine_function choose_arithmetic(type element) {
  switch (element) {
    case type::int8:
    case type::uint8:
      return arrays_if<is_kept_of_bytes(1), on_lanes<Arithmetic, std::uint8_t>>();
    case type::int16:
    case type::uint16:
      return arrays_if<is_kept_of_bytes(2), on_lanes<Arithmetic, std::uint16_t>>();
    case type::int32:
    case type::uint32:
      return arrays_if<is_kept_of_bytes(4), on_lanes<Arithmetic, std::uint32_t>>();
    case type::int64:
    case type::uint64:
      return arrays_if<is_kept_of_bytes(8), on_lanes<Arithmetic, std::uint64_t>>();
    case type::float16:
      return arrays_if<is_kept(type::float16), on_float16<Arithmetic>>();
    case type::bfloat16:
      return arrays_if<is_kept(type::bfloat16), on_bfloat16<Arithmetic>>();
    case type::float32:
      return arrays_if<is_kept(type::float32), on_lanes<Arithmetic, float>>();
    case type::float64:
      return arrays_if<is_kept(type::float64), on_lanes<Arithmetic, double>>();
    case type::complex_float32:
      return Arithmetic::template on_complex<float>();
    case type::complex_float64:
      return Arithmetic::template on_complex<double>();
    default:
      return nullptr;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace weft::kernels
HWY_AFTER_NAMESPACE();

#endif
