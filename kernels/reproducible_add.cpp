// Adds arrays to reproducible sums. Compiled once for every instruction set: foreach_target.h includes this file again
// and again.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "reproducible_bins.hpp"
#include "weft/kernels/reproducible.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reproducible_add.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace weft::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The slices of so many vectors are added up in lanes, of which a slice takes all but 12 bits (double) or 9 bits
/// (float).
constexpr std::size_t block_vectors = 256;

/// The first vectors only find out what bins there are, so that larger blocks need one pass.
constexpr std::size_t first_vectors = 8;

/// At most `block_vectors` whole vectors.
template <class T>
struct block {
  const T* from;
  std::size_t vectors;
};

/// Between what magnitudes the elements of a block lie.
template <class T>
struct extent {
  T smallest;  ///< not more than any magnitude
  T bound;     ///< not less than any magnitude; not finite if one is not
};

/// The bins in which the elements of a block have slices that are not zero, and that the accumulator keeps: `first` and
/// below.
struct window {
  int first;
  int slices;  ///< 0 to 3
};

/// Rounds `rest` to the unit of the bin of `magic` and adds the slice to `sum`; what is below stays in `rest`.
template <class D, class V, class S>
HWY_INLINE void slice(D d_bits, V magic, V& rest, S& sum) {
  const auto rounded = hn::Add(rest, magic);
  sum = hn::Add(sum, hn::BitCast(d_bits, rounded));
  rest = hn::Sub(rest, hn::Sub(rounded, magic));
}

/// The sum of all lanes of `sums`, where each has taken the bits of `magic` as often as there are vectors.
template <class T, class D, class V>
int128 total(D d, V sums, T magic, std::size_t vectors) {
  using bits = typename bin_format<T>::bits;
  std::array<bits, hn::MaxLanes(D())> lanes;
  hn::StoreU(sums, d, lanes.data());
  const bits magics = static_cast<bits>(vectors * std::bit_cast<bits>(magic));
  int128 result = 0;
  for (std::size_t i = 0; i < hn::Lanes(d); ++i)
    result += static_cast<std::make_signed_t<bits>>(static_cast<bits>(lanes[i] - magics));
  return result;
}

/// Sums up the slices of a block in `slices` bins from `first` on, and finds the block's extent on the way. The sums
/// mean something only if no element has a slice in another bin that is kept.
template <int slices, class T>
extent<T> add_slices(const block<T>& elements, int first, std::array<int128, 3>& sums) {
  const hn::ScalableTag<T> d;
  const hn::RebindToUnsigned<decltype(d)> d_bits;
  constexpr bool all_bins = slices == reproducible<T>::bins;  // then it does not matter how small elements are
  const auto magic = [first](int k) { return k < slices ? bin_format<T>::magic(first - k) : T(0); };
  const auto magic_0 = hn::Set(d, magic(0)), magic_1 = hn::Set(d, magic(1)), magic_2 = hn::Set(d, magic(2));
  auto sum_0 = hn::Zero(d_bits), sum_1 = sum_0, sum_2 = sum_0;
  auto smallest = all_bins ? hn::Zero(d) : hn::Set(d, std::numeric_limits<T>::max());
  auto even = hn::Zero(d), odd = even;  // two sums of magnitudes, since one would wait for itself
  const auto add = [&](auto rest, auto& bound) HWY_ATTR {
    const auto magnitude = hn::Abs(rest);
    if constexpr (!all_bins) smallest = hn::Min(smallest, magnitude);
    bound = hn::Add(bound, magnitude);
    if constexpr (slices > 0) slice(d_bits, magic_0, rest, sum_0);
    if constexpr (slices > 1) slice(d_bits, magic_1, rest, sum_1);
    if constexpr (slices > 2) slice(d_bits, magic_2, rest, sum_2);
  };
  const std::size_t lanes = hn::Lanes(d);
  const T* from = elements.from;
  for (std::size_t i = elements.vectors / 2; i > 0; --i, from += 2 * lanes) {
    add(hn::LoadU(d, from), even);
    add(hn::LoadU(d, from + lanes), odd);
  }
  if (elements.vectors % 2 != 0) add(hn::LoadU(d, from), even);
  if constexpr (slices > 0) sums[0] = total(d_bits, sum_0, magic(0), elements.vectors);
  if constexpr (slices > 1) sums[1] = total(d_bits, sum_1, magic(1), elements.vectors);
  if constexpr (slices > 2) sums[2] = total(d_bits, sum_2, magic(2), elements.vectors);
  std::array<T, hn::MaxLanes(d)> small, large;
  hn::StoreU(smallest, d, small.data());
  hn::StoreU(hn::Add(even, odd), d, large.data());
  extent<T> found{small[0], large[0]};
  for (std::size_t i = 1; i < lanes; ++i) {
    found.smallest = std::min(found.smallest, small[i]);
    if (large[i] > found.bound || std::isnan(large[i])) found.bound = large[i];  // a NaN stays
  }
  return found;
}

template <class T>
extent<T> add_slices(const block<T>& elements, window where, std::array<int128, 3>& sums) {
  switch (where.slices) {
    case 0:
      return add_slices<0>(elements, where.first, sums);
    case 1:
      return add_slices<1>(elements, where.first, sums);
    case 2:
      return add_slices<2>(elements, where.first, sums);
    default:
      return add_slices<3>(elements, where.first, sums);
  }
}

/// The highest bin of a block whose bound is finite: from the bound where that is at most `enough`, otherwise from the
/// largest magnitude.
template <class T>
int top_of(const block<T>& elements, T bound, int enough) {
  const int at_most = bin_format<T>::top(bound);
  if (at_most <= enough) return at_most;
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  auto largest = hn::Zero(d);
  for (std::size_t i = 0; i < elements.vectors; ++i)
    largest = hn::Max(largest, hn::Abs(hn::LoadU(d, elements.from + i * lanes)));
  std::array<T, hn::MaxLanes(d)> all;
  hn::StoreU(largest, d, all.data());
  return bin_format<T>::top(*std::max_element(all.data(), all.data() + lanes));
}

template <class T>
bool is_finite(T bound) {
  return bound <= std::numeric_limits<T>::max();
}

template <class T>
int lowest_bin(const extent<T>& range, const reproducible<T>& of) {
  return std::max(bin_format<T>::bottom(range.smallest), binned_access::top(of) - (reproducible<T>::bins - 1));
}

/// Whether the elements have no slices in bins outside of `where` that `to` keeps.
template <class T>
bool covers(window where, const block<T>& elements, const extent<T>& range, const reproducible<T>& to) {
  return is_finite(range.bound) && top_of(elements, range.bound, where.first) <= where.first &&
         lowest_bin(range, to) > where.first - where.slices;
}

/// The window of a block, after `to` was raised to it; none where vectors cannot do it: with NaNs and infinities, and
/// so near to overflow that `magic` would.
template <class T>
std::optional<window> find_window(const block<T>& elements, reproducible<T>& to) {
  std::array<int128, 3> none;
  const extent<T> range = add_slices<0>(elements, 0, none);
  if (!is_finite(range.bound)) return std::nullopt;
  const int first = top_of(elements, range.bound, binned_access::top(to));
  if (first > bin_format<T>::highest_magic) return std::nullopt;
  binned_access::raise(to, first);
  return window{first, std::max(first - lowest_bin(range, to) + 1, 0)};
}

template <class T>
void add_sums(const std::array<int128, 3>& sums, window where, reproducible<T>& to) {
  const int place = binned_access::top(to) - where.first;
  for (int k = 0; k < where.slices; ++k) binned_access::add(to, place + k, sums[static_cast<std::size_t>(k)]);
}

/// `known` is the window of the block before, which most often covers this one too: then one pass is enough.
template <class T>
void add_block(const block<T>& elements, std::optional<window>& known, reproducible<T>& to) {
  std::array<int128, 3> sums;
  if (known && covers(*known, elements, add_slices(elements, *known, sums), to)) return add_sums(sums, *known, to);
  known = find_window(elements, to);
  if (known) {
    add_slices(elements, *known, sums);
    return add_sums(sums, *known, to);
  }
  for (std::size_t i = 0; i < elements.vectors * hn::Lanes(hn::ScalableTag<T>()); ++i) to += elements.from[i];
}

template <class T>
void add_array(const T* from, std::size_t count, reproducible<T>& to) {
  const std::size_t lanes = hn::Lanes(hn::ScalableTag<T>());
  std::size_t vectors = count / lanes;
  std::optional<window> known;
  std::size_t limit = first_vectors;
  while (vectors > 0) {
    const block<T> next{from, std::min(vectors, std::exchange(limit, block_vectors))};
    add_block(next, known, to);
    from += next.vectors * lanes;
    vectors -= next.vectors;
  }
  for (std::size_t i = 0; i < count % lanes; ++i) to += from[i];
}

void add_floats(const float* from, std::size_t count, reproducible<float>& to) { add_array(from, count, to); }
void add_doubles(const double* from, std::size_t count, reproducible<double>& to) { add_array(from, count, to); }

}  // namespace HWY_NAMESPACE
}  // namespace weft::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace weft::kernels {

HWY_EXPORT(add_floats);
HWY_EXPORT(add_doubles);

namespace {

void add(std::span<const float> summands, reproducible<float>& to) {
  HWY_DYNAMIC_DISPATCH(add_floats)(summands.data(), summands.size(), to);
}
void add(std::span<const double> summands, reproducible<double>& to) {
  HWY_DYNAMIC_DISPATCH(add_doubles)(summands.data(), summands.size(), to);
}

}  // namespace
}  // namespace weft::kernels

namespace weft {

template <kernels::summable T>
void reproducible<T>::add(std::span<const T> summands) noexcept {
  kernels::add(summands, *this);
}
template void reproducible<float>::add(std::span<const float>) noexcept;
template void reproducible<double>::add(std::span<const double>) noexcept;

}  // namespace weft
#endif
