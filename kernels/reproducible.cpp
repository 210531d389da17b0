// SPDX-License-Identifier: Apache-2.0
#include "weft/kernels/reproducible.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "reproducible_bins.hpp"

namespace weft::kernels {
namespace {

/// `number` / 2^shift, rounded to nearest, ties to even. 0 < shift < 63.
std::int64_t rounded_shift(std::int64_t number, int shift) {
  const std::int64_t odd = number >> shift & 1;
  return (number + (std::int64_t{1} << (shift - 1)) - 1 + odd) >> shift;
}

template <class T>
void note(reproducible<T>& to, T special) {
  binned_access::note_special(to, std::isnan(special) ? nan_met : special > 0 ? infinity_met : negative_infinity_met);
}

/// A signed integer of 256 bits, two's complement, the lowest limb first. What `value` adds up fits: sums of 128 bits,
/// shifted by at most 2 * 52.
class wide_integer {
 public:
  /// Adds `number` * 2^shift, 0 <= shift < 128.
  void add(int128 number, int shift) {
    const auto limb = static_cast<std::size_t>(shift / 64);
    const int bits = shift % 64;
    const auto low = static_cast<std::uint64_t>(number);
    const auto high = static_cast<std::uint64_t>(number >> 64);
    const std::uint64_t sign = number < 0 ? ~std::uint64_t{0} : 0;
    std::array<std::uint64_t, 4> shifted{};
    for (std::size_t i = limb; i < shifted.size(); ++i) {
      const std::array<std::uint64_t, 4> words{low, high, sign, sign};
      shifted[i] = words[i - limb] << bits;
      if (bits != 0 && i > limb) shifted[i] |= words[i - limb - 1] >> (64 - bits);
    }
    bool carry = false;
    for (std::size_t i = 0; i < limbs_.size(); ++i) {
      const std::uint64_t sum = limbs_[i] + shifted[i];
      const std::uint64_t with_carry = sum + carry;
      carry = sum < limbs_[i] || with_carry < sum;
      limbs_[i] = with_carry;
    }
  }

  /// This * 2^exponent, rounded to nearest, ties to even; +0 if this is 0.
  template <class T>
  T scaled(int exponent) const {
    wide_integer magnitude = *this;
    const bool negative = limbs_.back() >> 63 != 0;
    if (negative) magnitude.negate();
    const int drop = std::max(magnitude.width() - std::numeric_limits<T>::digits, 0);
    std::uint64_t kept = magnitude.from_bit(drop);
    if (drop > 0 && magnitude.bit(drop - 1) && ((kept & 1) != 0 || magnitude.any_below(drop - 1))) ++kept;
    const T result = std::ldexp(static_cast<T>(kept), drop + exponent);
    return negative ? -result : result;
  }

 private:
  void negate() {
    bool carry = true;
    for (std::uint64_t& limb : limbs_) {
      limb = ~limb + carry;
      carry = carry && limb == 0;
    }
  }
  int width() const {
    for (int i = 3; i >= 0; --i)
      if (limb(i) != 0) return 64 * i + std::bit_width(limb(i));
    return 0;
  }
  std::uint64_t limb(int i) const { return i < 4 ? limbs_[static_cast<std::size_t>(i)] : 0; }
  bool bit(int i) const { return (limb(i / 64) >> (i % 64) & 1) != 0; }
  bool any_below(int end) const {
    for (int i = 0; i < end / 64; ++i)
      if (limb(i) != 0) return true;
    return (limb(end / 64) & ((std::uint64_t{1} << (end % 64)) - 1)) != 0;
  }
  /// 64 bits, the lowest of them number `first`.
  std::uint64_t from_bit(int first) const {
    const int i = first / 64, bits = first % 64;
    return bits == 0 ? limb(i) : limb(i) >> bits | limb(i + 1) << (64 - bits);
  }

  std::array<std::uint64_t, 4> limbs_{};
};

}  // namespace

template <summable T>
void accumulate_each(std::span<const T> from, reproducible<T>* to) noexcept {
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = reproducible<T>(from[i]);
}

template <summable T>
void value_of_each(std::span<const reproducible<T>> from, T* to) noexcept {
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = from[i].value();
}

template <summable T>
void merge_arrays(const void* const* sources, std::size_t source_count, void* target, std::size_t count) {
  constexpr std::size_t size = sizeof(reproducible<T>);
  for (std::size_t offset = 0; offset < count * size; offset += size) {
    reproducible<T> merged, next;
    std::memcpy(&merged, static_cast<const std::byte*>(sources[0]) + offset, size);
    for (std::size_t s = 1; s < source_count; ++s) {
      std::memcpy(&next, static_cast<const std::byte*>(sources[s]) + offset, size);
      merged += next;
    }
    std::memcpy(static_cast<std::byte*>(target) + offset, &merged, size);
  }
}

}  // namespace weft::kernels

namespace weft {

template <kernels::summable T>
reproducible<T>& reproducible<T>::operator+=(T summand) noexcept {
  using format = kernels::bin_format<T>;
  const int field = format::exponent_field(summand);
  if (field == format::special_exponent) {
    kernels::note(*this, summand);
    return *this;
  }
  const auto raw = std::bit_cast<typename format::bits>(summand);
  constexpr auto hidden = typename format::bits{1} << format::width;
  auto rest = static_cast<std::int64_t>((raw & (hidden - 1)) | (field != 0 ? hidden : 0));
  if (rest == 0) return *this;
  if (std::signbit(summand)) rest = -rest;

  // `rest` * 2^(position + lowest) is what the bins above have not taken.
  const int position = format::position(summand);
  kernels::binned_access::raise(*this, format::top(summand));
  for (int place = 0; place < bins && rest != 0; ++place) {
    const int shift = format::width * (kernels::binned_access::top(*this) - place) - position;
    if (shift <= 0) {
      kernels::binned_access::add(*this, place, static_cast<kernels::int128>(rest) << -shift);
      return *this;
    }
    if (shift > format::width + 2) continue;  // less than half a unit
    const std::int64_t slice = kernels::rounded_shift(rest, shift);
    kernels::binned_access::add(*this, place, slice);
    rest -= slice << shift;
  }
  return *this;
}

template <kernels::summable T>
reproducible<T>& reproducible<T>::operator+=(const reproducible& other) noexcept {
  const int behind = static_cast<int>(top_) - static_cast<int>(other.top_);  // of `other`, in bins
  if (behind < 0) {
    reproducible both = other;
    both += *this;
    return *this = both;
  }
  for (int place = behind; place < bins; ++place)
    kernels::binned_access::add(*this, place, kernels::binned_access::sum(other, place - behind));
  kernels::binned_access::note_special(*this, other.special_);
  return *this;
}

template <kernels::summable T>
T reproducible<T>::value() const noexcept {
  using limits = std::numeric_limits<T>;
  if (special_ == kernels::infinity_met) return limits::infinity();
  if (special_ == kernels::negative_infinity_met) return -limits::infinity();
  if (special_ != 0) return limits::quiet_NaN();
  kernels::wide_integer sum;
  for (int place = 0; place < bins; ++place)
    sum.add(kernels::binned_access::sum(*this, place), kernels::bin_format<T>::width * (bins - 1 - place));
  return sum.template scaled<T>(kernels::bin_format<T>::width * (static_cast<int>(top_) - (bins - 1)) +
                                kernels::bin_format<T>::lowest);
}

#define WEFT_INSTANTIATE(T)                                                               \
  template reproducible<T>& reproducible<T>::operator+=(T) noexcept;                      \
  template reproducible<T>& reproducible<T>::operator+=(const reproducible<T>&) noexcept; \
  template T reproducible<T>::value() const noexcept;                                     \
  template void kernels::accumulate_each(std::span<const T>, reproducible<T>*) noexcept;  \
  template void kernels::value_of_each(std::span<const reproducible<T>>, T*) noexcept;    \
  template void kernels::merge_arrays<T>(const void* const*, std::size_t, void*, std::size_t);
WEFT_INSTANTIATE(float)
WEFT_INSTANTIATE(double)
#undef WEFT_INSTANTIATE

}  // namespace weft
