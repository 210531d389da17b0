// SPDX-License-Identifier: Apache-2.0
// Adds arrays to reproducible sums. Compiled once for every instruction set: foreach_target.h includes this file again
// and again.
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "reproducible_bins.hpp"
#include "weft/kernels/reproducible.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reproducible_add.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "instruction_sets.hpp"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The slices of so many vectors are added up in lanes, of which a slice takes all but 12 bits (double) or 9 bits
/// (float).
template <class T>
constexpr std::size_t block_vectors = sizeof(T) == 8 ? 512 : 256;

/// The first vectors only find out what bins there are, so that larger blocks need one pass.
constexpr std::size_t first_vectors = 8;

/// At most `block_vectors` whole vectors.
template <class T>
struct block {
  const T* from;
  std::size_t vectors;
};

/// The bins in which the elements of a block have slices that are not zero, and that the accumulator keeps: `first` and
/// below. No element has a slice above; none has one below
/// - where `open`, since the accumulator keeps none there: elements may be as small as they like;
/// - otherwise, since the exponent fields of all are among `fields` ones from `lowest_field` on. This check is cheaper.
struct window {
  int first;
  int slices;  ///< 0 to 3; 2 unless open
  bool open;
  int lowest_field;
};

/// How many: a power of two, below the width of a bin.
template <class T>
constexpr int fields = sizeof(T) == 8 ? 32 : 16;

using slice_sums = std::array<int128, 3>;

/// `body(vector, odd)` for each vector of the block, of which every other one is `odd`.
template <class T, class Body>
HWY_INLINE void for_each_vector(const block<T>& elements, Body body) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const T* from = elements.from;
  for (std::size_t i = elements.vectors / 2; i > 0; --i, from += 2 * lanes) {
    body(hn::LoadU(d, from), std::false_type());
    body(hn::LoadU(d, from + lanes), std::true_type());
  }
  if (elements.vectors % 2 != 0) body(hn::LoadU(d, from), std::false_type());
}

/// Rounds `rest` to the unit of the bin of `magic` and adds the slice to `sum`; what is below stays in `rest`.
template <class D, class V, class S>
HWY_INLINE void slice(D d_bits, V magic, V& rest, S& sum) {
  const auto rounded = hn::Add(rest, magic);
  sum = hn::Add(sum, hn::BitCast(d_bits, rounded));
  rest = hn::Sub(rest, hn::Sub(rounded, magic));
}

/// The sum of all lanes of `sums`, where each has taken the bits of `magic` as often as there are vectors: of their
/// upper and lower halves apart, which do not overflow.
template <class T, class D, class V>
HWY_INLINE int128 total(D d_bits, V sums, T magic, std::size_t vectors) {
  using bits = typename bin_format<T>::bits;
  constexpr int half = 4 * sizeof(T);
  const hn::RebindToSigned<D> d_signed;
  const auto slices = hn::Sub(sums, hn::Set(d_bits, static_cast<bits>(vectors * std::bit_cast<bits>(magic))));
  const auto high = hn::SumOfLanes(d_signed, hn::ShiftRight<half>(hn::BitCast(d_signed, slices)));
  const auto low = hn::SumOfLanes(d_bits, hn::And(slices, hn::Set(d_bits, (bits{1} << half) - 1)));
  return static_cast<int128>(hn::GetLane(high)) * (static_cast<int128>(1) << half) + hn::GetLane(low);
}

template <class D, class V>
HWY_INLINE bool all_finite(D d, V magnitudes) {
  return hn::AllTrue(d, hn::Le(magnitudes, hn::Set(d, std::numeric_limits<hn::TFromD<D>>::max())));
}

/// Between what magnitudes the elements of a block lie; nothing where not all are finite, or nearly infinite.
template <class T>
struct extent {
  T smallest, largest;
};
template <class T>
std::optional<extent<T>> find_extent(const block<T>& elements) {
  const hn::ScalableTag<T> d;
  auto smallest = hn::Set(d, std::numeric_limits<T>::max()), largest = hn::Zero(d), sum = largest;
  for_each_vector(elements, [&](auto each, auto) HWY_ATTR {
    const auto magnitude = hn::Abs(each);
    smallest = hn::Min(smallest, magnitude);
    largest = hn::Max(largest, magnitude);
    sum = hn::Add(sum, magnitude);
  });
  if (!all_finite(d, sum)) return std::nullopt;
  return extent<T>{hn::GetLane(hn::MinOfLanes(d, smallest)), hn::GetLane(hn::MaxOfLanes(d, largest))};
}

/// Whether no element of a block has a slice above bin `first`: as lanes of sums of magnitudes show, or else a second
/// look at the elements.
template <class T, class V>
HWY_INLINE bool none_above(const block<T>& elements, V sums, int first) {
  const hn::ScalableTag<T> d;
  if (!all_finite(d, sums)) return false;
  if (bin_format<T>::top(hn::GetLane(hn::MaxOfLanes(d, sums))) <= first) return true;
  const auto range = find_extent(elements);
  return range && bin_format<T>::top(range->largest) <= first;
}

/// Whether the exponent fields of all elements are in the window, where `distances` is the disjunction of all elements,
/// as bits, less the lowest field.
template <class T, class D, class V>
HWY_INLINE bool fields_inside(D d_bits, V distances) {
  using bits = typename bin_format<T>::bits;
  constexpr auto outside = static_cast<bits>(bin_format<T>::special_exponent & ~(fields<T> - 1));
  const auto beyond = hn::And(distances, hn::Set(d_bits, outside << bin_format<T>::width));
  return hn::AllTrue(d_bits, hn::Eq(beyond, hn::Zero(d_bits)));
}

/// Sums up the slices of a block in the bins of the window. Returns whether it holds all of them: otherwise the sums
/// mean nothing.
template <int slices, bool open, class T>
bool add_slices(const block<T>& elements, const window& where, slice_sums& sums) {
  using bits = typename bin_format<T>::bits;
  const hn::ScalableTag<T> d;
  const hn::RebindToUnsigned<decltype(d)> d_bits;
  const auto magic = [&](int k) { return k < slices ? bin_format<T>::magic(where.first - k) : T(0); };
  const auto magic_0 = hn::Set(d, magic(0)), magic_1 = hn::Set(d, magic(1)), magic_2 = hn::Set(d, magic(2));
  auto sum_0 = hn::Zero(d_bits), sum_1 = sum_0, sum_2 = sum_0;
  auto even = hn::Zero(d), odd = even;  // two sums of magnitudes, since one would wait for itself
  const auto lowest = hn::Set(d_bits, static_cast<bits>(where.lowest_field) << bin_format<T>::width);
  auto distances = hn::Zero(d_bits);
  for_each_vector(elements, [&](auto rest, auto is_odd) HWY_ATTR {
    if constexpr (open) {
      auto& magnitudes = is_odd ? odd : even;
      magnitudes = hn::Add(magnitudes, hn::Abs(rest));
    } else {
      distances = hn::Or(distances, hn::Sub(hn::BitCast(d_bits, rest), lowest));
    }
    if constexpr (slices > 0) slice(d_bits, magic_0, rest, sum_0);
    if constexpr (slices > 1) slice(d_bits, magic_1, rest, sum_1);
    if constexpr (slices > 2) slice(d_bits, magic_2, rest, sum_2);
  });
  if constexpr (slices > 0) sums[0] = total(d_bits, sum_0, magic(0), elements.vectors);
  if constexpr (slices > 1) sums[1] = total(d_bits, sum_1, magic(1), elements.vectors);
  if constexpr (slices > 2) sums[2] = total(d_bits, sum_2, magic(2), elements.vectors);
  if constexpr (open)
    return none_above(elements, hn::Add(even, odd), where.first);
  else
    return fields_inside<T>(d_bits, distances);
}

template <class T>
bool add_slices(const block<T>& elements, const window& where, slice_sums& sums) {
  if (!where.open) return add_slices<2, false>(elements, where, sums);
  switch (where.slices) {
    case 0:
      return add_slices<0, true>(elements, where, sums);
    case 1:
      return add_slices<1, true>(elements, where, sums);
    case 2:
      return add_slices<2, true>(elements, where, sums);
    default:
      return add_slices<3, true>(elements, where, sums);
  }
}

/// The window of a block, after `to` was raised to it; none where vectors cannot do it: with NaNs and infinities, and
/// so near to overflow that `magic` would.
template <class T>
std::optional<window> find_window(const block<T>& elements, reproducible<T>& to) {
  using format = bin_format<T>;
  const auto range = find_extent(elements);
  if (!range) return std::nullopt;
  const int first = format::top(range->largest);
  if (first > format::highest_magic) return std::nullopt;
  binned_access::raise(to, first);
  const int slices = std::max(reproducible<T>::bins - (binned_access::top(to) - first), 0);
  // Of the fields of numbers that have slices in two bins alone, those around and below the largest. The next block may
  // be longer, with a smaller one among more elements.
  const int least = format::width * (first - 1) + 1, most = format::width * first - 1;
  const int largest = format::exponent_field(range->largest);
  const int lowest_field = std::clamp(largest + 2 - fields<T>, least, most + 1 - fields<T>);
  const int margin = std::bit_width(block_vectors<T> / elements.vectors);
  if (slices == 3 && format::exponent_field(range->smallest) >= lowest_field + margin)
    return window{first, 2, false, lowest_field};
  return window{first, slices, true, 0};
}

template <class T>
void add_sums(const slice_sums& sums, const window& where, reproducible<T>& to) {
  const int place = binned_access::top(to) - where.first;
  for (int k = 0; k < where.slices; ++k) binned_access::add(to, place + k, sums[static_cast<std::size_t>(k)]);
}

/// `known` is the window of the block before, which most often is this one's too: then one pass is enough.
template <class T>
void add_block(const block<T>& elements, std::optional<window>& known, reproducible<T>& to) {
  slice_sums sums;
  if (known && add_slices(elements, *known, sums)) return add_sums(sums, *known, to);
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
    const block<T> next{from, std::min(vectors, std::exchange(limit, block_vectors<T>))};
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

namespace {

void add(std::span<const float> summands, reproducible<float>& to) {
  WEFT_BEST(add_floats)(summands.data(), summands.size(), to);
}
void add(std::span<const double> summands, reproducible<double>& to) {
  WEFT_BEST(add_doubles)(summands.data(), summands.size(), to);
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
