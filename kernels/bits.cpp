// SPDX-License-Identifier: Apache-2.0
// Operators on bits and truth values. Compiled once for every instruction set: foreach_target.h includes this file
// again and again.
#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bits.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "arrays-inl.hpp"
#include "families.hpp"
#include "instruction_sets.hpp"
#include "weft/kernels/scalar_operators.hpp"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels {
namespace HWY_NAMESPACE {

struct and_vectors {
  template <class V>
  static HWY_INLINE V apply(V a, V b) {
    return hn::And(a, b);
  }
};
struct or_vectors {
  template <class V>
  static HWY_INLINE V apply(V a, V b) {
    return hn::Or(a, b);
  }
};
struct xor_vectors {
  template <class V>
  static HWY_INLINE V apply(V a, V b) {
    return hn::Xor(a, b);
  }
};

/// Bit by bit, whatever the elements are: byte by byte.
template <class Scalar, class Vectors>
struct bitwise : vectors_of<std::uint8_t> {
  using element = std::uint8_t;
  static HWY_INLINE element one(element a, element b) { return Scalar::apply(a, b); }
  template <class D, class V>
  static HWY_INLINE V apply(D, V a, V b) {
    return Vectors::apply(a, b);
  }
};

/// On truth values, unsigned elements of which all but 0 are true: as bits, once they are 0 or 1.
template <class T, class Scalar, class Vectors>
struct logical : vectors_of<T> {
  using element = T;
  static HWY_INLINE T one(T a, T b) { return Scalar::apply(a, b); }
#if !WEFT_KERNELS_SCALAR
  template <class D, class V>
  static HWY_INLINE V apply(D d, V a, V b) {
    const auto one = hn::Set(d, T{1});
    return Vectors::apply(hn::Min(a, one), hn::Min(b, one));
  }
#endif
};

template <operation by, class Scalar, class Vectors>
combine_function choose_bitwise(std::size_t bytes) {
  using each = bitwise<Scalar, Vectors>;
  return bytes == 1 ? arrays_if < is_kept(by) && is_kept_of_bytes(1),
         each > () : bytes == 2 ? parts_if < is_kept(by) && is_kept_of_bytes(2), each,
         2 > () : bytes == 4 ? parts_if < is_kept(by) && is_kept_of_bytes(4), each,
         4 > ()              : parts_if < is_kept(by) && is_kept_of_bytes(8), each, 8 > ();
}

template <operation by, class Scalar, class Vectors>
combine_function choose_logical(std::size_t bytes) {
  return bytes == 1    ? arrays_if < is_kept(by) && is_kept_of_bytes(1), logical < std::uint8_t, Scalar,
         Vectors >> () : bytes == 2 ? arrays_if < is_kept(by) && is_kept_of_bytes(2), logical < std::uint16_t, Scalar,
         Vectors >> () : bytes == 4 ? arrays_if < is_kept(by) && is_kept_of_bytes(4), logical < std::uint32_t, Scalar,
         Vectors >> () : arrays_if < is_kept(by) && is_kept_of_bytes(8), logical < std::uint64_t, Scalar, Vectors >> ();
}

combine_function choose_bits(operation combined_by, std::size_t bytes) {
  switch (combined_by) {
    case operation::bit_and:
      return choose_bitwise<operation::bit_and, scalar::bit_and, and_vectors>(bytes);
    case operation::bit_or:
      return choose_bitwise<operation::bit_or, scalar::bit_or, or_vectors>(bytes);
    case operation::bit_xor:
      return choose_bitwise<operation::bit_xor, scalar::bit_xor, xor_vectors>(bytes);
    case operation::logical_and:
      return choose_logical<operation::logical_and, scalar::logical_and, and_vectors>(bytes);
    case operation::logical_or:
      return choose_logical<operation::logical_or, scalar::logical_or, or_vectors>(bytes);
    case operation::logical_xor:
      return choose_logical<operation::logical_xor, scalar::logical_xor, xor_vectors>(bytes);
    default:
      return nullptr;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace weft::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace weft::kernels {

combine_function bits_function(operation combined_by, type element) {
  return WEFT_BEST(choose_bits)(combined_by, size_of(element));
}

}  // namespace weft::kernels
#endif
