// The operators on vectors. Included once for every instruction set, hence a guard that toggles instead of a pragma.
#if defined(WEFT_KERNELS_OPERATORS) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_OPERATORS
#undef WEFT_KERNELS_OPERATORS
#else
#define WEFT_KERNELS_OPERATORS
#endif

#include <hwy/highway.h>

#include <limits>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace weft::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Integers that wrap around: unsigned lanes, whose overflow is defined on the scalar target as well.
template <class T, bool is_integer = std::is_integral_v<T>>
struct wrapping {
  using type = T;
};
template <class T>
struct wrapping<T, true> {
  using type = std::make_unsigned_t<T>;
};

/// An operator: the lanes in which it computes elements of type T, and what two vectors become.
struct sum {
  template <class T>
  using lane = typename wrapping<T>::type;

  template <class D, class V>
  static HWY_INLINE V apply(D, V a, V b) {
    return hn::Add(a, b);
  }
};

struct product {
  template <class T>
  using lane = typename wrapping<T>::type;

  template <class D, class V>
  static HWY_INLINE V apply(D, V a, V b) {
    return hn::Mul(a, b);
  }
};

/// Of two floats, `less` where a < b, `greater` where b < a, `equal` where they compare equal (the same bits, or zeros
/// of either sign), and a quiet NaN where either is a NaN. Spelled out, since what Highway's Min and Max do with NaNs
/// and signed zeros differs between targets.
template <class D, class V>
HWY_INLINE V select(D d, V a, V b, V less, V greater, V equal) {
  const V unordered = hn::Set(d, std::numeric_limits<hn::TFromD<D>>::quiet_NaN());
  return hn::IfThenElse(hn::Lt(a, b), less,
                        hn::IfThenElse(hn::Lt(b, a), greater, hn::IfThenElse(hn::Eq(a, b), equal, unordered)));
}

struct minimum {
  template <class T>
  using lane = T;

  template <class D, class V>
  static HWY_INLINE V apply(D d, V a, V b) {
    if constexpr (std::is_floating_point_v<hn::TFromD<D>>)
      return select(d, a, b, a, b, hn::Or(a, b));  // of two zeros, the negative one
    else
      return hn::Min(a, b);
  }
};

struct maximum {
  template <class T>
  using lane = T;

  template <class D, class V>
  static HWY_INLINE V apply(D d, V a, V b) {
    if constexpr (std::is_floating_point_v<hn::TFromD<D>>)
      return select(d, a, b, b, a, hn::And(a, b));  // of two zeros, the positive one
    else
      return hn::Max(a, b);
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace weft::kernels
HWY_AFTER_NAMESPACE();

#endif
