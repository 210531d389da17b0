// From an operator on vectors and on single elements to one on arrays: the tree over the sources, ends and loops.
// Included once for every instruction set, hence a guard that toggles instead of a pragma.
//
// An operator is a type with
//   element                the type of what is combined, trivially copyable
//   one(a, b)              two elements
// and, but on the scalar target,
//   full, small            tags of the vectors that arrays are cut into: the longest, and one of 16 bytes at most;
//                          both hold whole elements
//   apply(d, a, b)         two vectors of either tag, element by element the same bits as one()
#if defined(WEFT_KERNELS_ARRAYS) == defined(HWY_TARGET_TOGGLE)
#ifdef WEFT_KERNELS_ARRAYS
#undef WEFT_KERNELS_ARRAYS
#else
#define WEFT_KERNELS_ARRAYS
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#undef WEFT_KERNELS_SCALAR
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
#define WEFT_KERNELS_SCALAR 1
#else
#define WEFT_KERNELS_SCALAR 0
#endif

HWY_BEFORE_NAMESPACE();
namespace weft::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using addresses = const void* const*;

HWY_INLINE const std::byte* position(addresses sources, std::size_t source, std::size_t offset) {
  return static_cast<const std::byte*>(sources[source]) + offset;
}

/// How many of `count` sources, at least 2, the left subtree takes: the largest power of two below `count`.
HWY_INLINE std::size_t left_share(std::size_t count) { return std::bit_floor(count - 1); }

/// The element of the result that lies `offset` bytes from the start.
template <class Operator>
typename Operator::element one_of_tree(addresses sources, std::size_t source_count, std::size_t offset) {
  typename Operator::element result;
  if (source_count == 1) {
    std::memcpy(&result, position(sources, 0, offset), sizeof result);
    return result;
  }
  const std::size_t left = left_share(source_count);
  return Operator::one(one_of_tree<Operator>(sources, left, offset),
                       one_of_tree<Operator>(sources + left, source_count - left, offset));
}

template <class Operator>
HWY_INLINE void combine_elements(addresses sources, std::size_t source_count, std::byte* target, std::size_t bytes) {
  using element = typename Operator::element;
  for (std::size_t offset = 0; offset < bytes; offset += sizeof(element)) {
    element result;
    if (source_count == 2) {
      element a, b;
      std::memcpy(&a, position(sources, 0, offset), sizeof a);
      std::memcpy(&b, position(sources, 1, offset), sizeof b);
      result = Operator::one(a, b);
    } else {
      result = one_of_tree<Operator>(sources, source_count, offset);
    }
    std::memcpy(target + offset, &result, sizeof result);
  }
}

#if !WEFT_KERNELS_SCALAR

template <class D>
HWY_INLINE hn::Vec<D> load(D d, const std::byte* from) {
  return hn::LoadU(d, reinterpret_cast<const hn::TFromD<D>*>(from));
}
template <class D>
HWY_INLINE void store(hn::Vec<D> vector, D d, std::byte* to) {
  hn::StoreU(vector, d, reinterpret_cast<hn::TFromD<D>*>(to));
}
/// Past the caches where `streams`; `to` is then aligned to the vector.
template <class D>
HWY_INLINE void put(hn::Vec<D> vector, D d, std::byte* to, bool streams) {
  if (streams)
    hn::Stream(vector, d, reinterpret_cast<hn::TFromD<D>*>(to));
  else
    store(vector, d, to);
}
template <class D>
HWY_INLINE std::size_t bytes_of(D d) {
  return hn::Lanes(d) * sizeof(hn::TFromD<D>);
}

/// The vector of the result that lies `offset` bytes from the start.
template <class Operator, class D>
hn::Vec<D> vector_of_tree(D d, addresses sources, std::size_t source_count, std::size_t offset) {
  if (source_count == 1) return load(d, position(sources, 0, offset));
  const std::size_t left = left_share(source_count);
  return Operator::apply(d, vector_of_tree<Operator>(d, sources, left, offset),
                         vector_of_tree<Operator>(d, sources + left, source_count - left, offset));
}

/// At least one small vector, and less than a full one. The last vector overlaps the one before unless the length is a
/// multiple: it is computed before anything is stored, because the target may be a source.
template <class Operator>
HWY_INLINE void combine_short(addresses sources, std::size_t source_count, std::byte* target, std::size_t bytes) {
  const typename Operator::small d;
  const std::size_t step = bytes_of(d), last = bytes - step;
  const auto end = vector_of_tree<Operator>(d, sources, source_count, last);
  for (std::size_t offset = 0; offset < last; offset += step)
    store(vector_of_tree<Operator>(d, sources, source_count, offset), d, target + offset);
  store(end, d, target + last);
}

/// The balanced tree over `sources` consecutive sources, a power of two; then, on the right, what a pass before has
/// made of those that follow.
template <class Operator, std::size_t sources, class D>
HWY_INLINE hn::Vec<D> balanced(D d, const std::byte* const* from, std::size_t offset) {
  if constexpr (sources == 1) {
    return load(d, from[0] + offset);
  } else {
    const auto left = balanced<Operator, sources / 2>(d, from, offset);
    return Operator::apply(d, left, balanced<Operator, sources / 2>(d, from + sources / 2, offset));
  }
}

template <class Operator, std::size_t sources, bool carries, class D>
HWY_INLINE hn::Vec<D> balanced_and_carry(D d, const std::byte* const* from, std::size_t offset) {
  const auto tree = balanced<Operator, sources>(d, from, offset);
  if constexpr (carries)
    return Operator::apply(d, tree, load(d, from[sources] + offset));
  else
    return tree;
}

/// One pass over `bytes` bytes, whole vectors, of 2, 4 or 8 sources from `offset` on; the target begins there. Several
/// vectors a round, whose chains of operations are independent, hide the operator's latency. Where `streams`, the
/// target is aligned to a full vector.
template <class Operator, std::size_t sources, bool carries>
HWY_NOINLINE void pass(addresses addresses_of, std::size_t offset, const std::byte* carry, std::byte* target,
                       std::size_t bytes, bool streams) {
  const typename Operator::full d;
  const std::size_t step = bytes_of(d);
  const std::byte* from[sources + 1];
  for (std::size_t i = 0; i < sources; ++i) from[i] = position(addresses_of, i, offset);
  from[sources] = carry;
  const auto vector = [&](std::size_t at)
                          HWY_ATTR { return balanced_and_carry<Operator, sources, carries>(d, from, at); };
  std::size_t at = 0;
  if constexpr (sources == 2) {
    for (; at + 3 * step < bytes; at += 4 * step) {
      const auto first = vector(at), second = vector(at + step);
      const auto third = vector(at + 2 * step), fourth = vector(at + 3 * step);
      put(first, d, target + at, streams);
      put(second, d, target + at + step, streams);
      put(third, d, target + at + 2 * step, streams);
      put(fourth, d, target + at + 3 * step, streams);
    }
  } else {
    for (; at + step < bytes; at += 2 * step) {
      const auto first = vector(at), second = vector(at + step);
      put(first, d, target + at, streams);
      put(second, d, target + at + step, streams);
    }
  }
  for (; at < bytes; at += step) put(vector(at), d, target + at, streams);
}

template <class Operator, std::size_t sources>
HWY_INLINE void any_pass(addresses addresses_of, std::size_t offset, const std::byte* carry, std::byte* target,
                         std::size_t bytes, bool streams) {
  if (carry == nullptr)
    pass<Operator, sources, false>(addresses_of, offset, nullptr, target, bytes, streams);
  else
    pass<Operator, sources, true>(addresses_of, offset, carry, target, bytes, streams);
}

/// What passes hand on stays in the first cache: a multiple of every vector's length.
constexpr std::size_t block_bytes = 4096;

/// Sources and target together, from which on the target is written past the caches: it would not stay there, and to
/// write in them first reads it. Measured on an EPYC of family 26 with 32 MiB of third-level cache, sum of two arrays
/// of float: from 24 MiB on 1.3 to 1.7 times as fast, below 8 MiB not always faster.
constexpr std::size_t streaming_bytes = std::size_t{32} << 20;

/// Whole vectors, from `begin` to `end`. The tree's right flank, from the last source on: an odd one, then groups of 2,
/// 4 and 8, each of which takes what the group before has made.
///
///     15 sources     0..7 o (8..11 o (12..13 o 14))
template <class Operator>
HWY_INLINE void combine_whole(addresses sources, std::size_t source_count, std::byte* target, std::size_t begin,
                              std::size_t end, bool streams) {
  HWY_ALIGN std::byte between[block_bytes];
  const std::size_t grouped = source_count & ~std::size_t{1};
  const bool one_group = std::has_single_bit(grouped) && grouped <= 8;
  const std::size_t block = one_group ? end - begin : block_bytes;
  for (std::size_t offset = begin; offset < end; offset += block) {
    const std::size_t length = std::min(block, end - offset);
    const std::byte* carry = grouped == source_count ? nullptr : position(sources, grouped, offset);
    for (std::size_t left = grouped; left != 0;) {
      const std::size_t group = (left & 2) != 0 ? 2 : (left & 4) != 0 ? 4 : 8;
      left -= group;
      const bool last = left == 0;
      std::byte* const to = last ? target + offset : between;
      if (group == 2)
        any_pass<Operator, 2>(sources + left, offset, carry, to, length, last && streams);
      else if (group == 4)
        any_pass<Operator, 4>(sources + left, offset, carry, to, length, last && streams);
      else
        any_pass<Operator, 8>(sources + left, offset, carry, to, length, last && streams);
      carry = to;
    }
  }
}

/// A full vector or more. The last one as in `combine_short`.
template <class Operator>
HWY_INLINE void combine_long(addresses sources, std::size_t source_count, std::byte* target, std::size_t bytes) {
  const typename Operator::full d;
  const std::size_t step = bytes_of(d), last = bytes - step;
  const auto end = vector_of_tree<Operator>(d, sources, source_count, last);
  const auto whole = [&](std::size_t begin) { return begin + (last - begin + step - 1) / step * step; };
  // Streaming stores write whole vectors where they are aligned, which the target's elements may not allow.
  const std::size_t begin = (0 - reinterpret_cast<std::uintptr_t>(target)) % step;
  const bool streams = bytes >= streaming_bytes / (source_count + 1) && step >= 16 &&
                       begin % sizeof(typename Operator::element) == 0 &&
                       std::find(sources, sources + source_count, target) == sources + source_count;
  if (streams && begin != 0) store(vector_of_tree<Operator>(d, sources, source_count, 0), d, target);
  combine_whole<Operator>(sources, source_count, target, streams ? begin : 0, whole(streams ? begin : 0), streams);
  // Before whatever this thread stores next: who sees that sees the target too.
  if (streams) hwy::FlushStream();
  store(end, d, target + last);
}

#endif  // !WEFT_KERNELS_SCALAR

template <class Operator>
void combine_arrays(addresses sources, std::size_t source_count, void* to, std::size_t count) {
  auto* const target = static_cast<std::byte*>(to);
  const std::size_t bytes = count * sizeof(typename Operator::element);
  if (bytes == 0) return;
  if (source_count == 1) {
    if (sources[0] != to) std::memcpy(to, sources[0], bytes);
    return;
  }
#if !WEFT_KERNELS_SCALAR
  if (bytes >= bytes_of(typename Operator::full())) return combine_long<Operator>(sources, source_count, target, bytes);
  if (bytes >= bytes_of(typename Operator::small()))
    return combine_short<Operator>(sources, source_count, target, bytes);
#endif
  combine_elements<Operator>(sources, source_count, target, bytes);
}

/// The same for elements that are each `parts` of the operator's.
template <class Operator, std::size_t parts>
void combine_parts(addresses sources, std::size_t source_count, void* to, std::size_t count) {
  combine_arrays<Operator>(sources, source_count, to, count * parts);
}

#if !WEFT_KERNELS_SCALAR
/// The tags of an operator that combines whole vectors of lanes.
template <class Lane>
struct vectors_of {
  using full = hn::ScalableTag<Lane>;
  using small = hn::CappedTag<Lane, 16 / sizeof(Lane)>;
};
#else
template <class Lane>
struct vectors_of {};
#endif

}  // namespace HWY_NAMESPACE
}  // namespace weft::kernels
HWY_AFTER_NAMESPACE();

#endif
