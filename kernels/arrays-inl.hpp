// SPDX-License-Identifier: Apache-2.0
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

#include "kept.hpp"
#include "streaming.hpp"
#include "weft/kernels/combine.hpp"

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
constexpr std::size_t left_share(std::size_t count) { return std::bit_floor(count - 1); }

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

/// Bytes below which nothing is done by vectors.
constexpr std::size_t shortest_vector = 16;

/// Of two sources.
template <class Operator>
HWY_INLINE void combine_pairs(addresses sources, std::byte* target, std::size_t bytes) {
  using element = typename Operator::element;
  for (std::size_t offset = 0; offset < bytes; offset += sizeof(element)) {
    element a, b;
    std::memcpy(&a, position(sources, 0, offset), sizeof a);
    std::memcpy(&b, position(sources, 1, offset), sizeof b);
    const element result = Operator::one(a, b);
    std::memcpy(target + offset, &result, sizeof result);
  }
}

template <class Operator>
HWY_NOINLINE void combine_elements(addresses sources, std::size_t source_count, std::byte* target, std::size_t bytes) {
  using element = typename Operator::element;
  for (std::size_t offset = 0; offset < bytes; offset += sizeof(element)) {
    const element result = one_of_tree<Operator>(sources, source_count, offset);
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
/// Past the caches; `to` is aligned to the vector.
template <class D>
HWY_INLINE void stream(hn::Vec<D> vector, D d, std::byte* to) {
  hn::Stream(vector, d, reinterpret_cast<hn::TFromD<D>*>(to));
}
template <class D>
HWY_INLINE std::size_t bytes_of(D d) {
  return hn::Lanes(d) * sizeof(hn::TFromD<D>);
}
/// How far `target` is from the next multiple of a vector's length.
HWY_INLINE std::size_t to_alignment(const std::byte* target, std::size_t step) {
  return (0 - reinterpret_cast<std::uintptr_t>(target)) % step;
}

/// The vector of the result of so many sources that lies `offset` bytes from the start.
template <class Operator, std::size_t sources, class D>
HWY_INLINE hn::Vec<D> tree(D d, const std::byte* const* from, std::size_t offset) {
  if constexpr (sources == 1) {
    return load(d, from[0] + offset);
  } else {
    constexpr std::size_t left_sources = left_share(sources);
    const auto left = tree<Operator, left_sources>(d, from, offset);
    return Operator::apply(d, left, tree<Operator, sources - left_sources>(d, from + left_sources, offset));
  }
}

/// Four whole vectors a round, from `at` to where less is left, which is returned. Chains of operations that are
/// independent hide the latency of an operator of few sources. A bound for `at` alone leaves the rest of a round's
/// addresses to the instructions that use them.
template <class Operator, std::size_t sources, class D>
HWY_INLINE std::size_t combine_fours(D d, const std::byte* const* from, std::byte* target, std::size_t at,
                                     std::size_t end) {
  const std::size_t step = bytes_of(d), others = 3 * step, stop = end > others ? end - others : 0;
  const auto vector = [&](std::size_t offset) HWY_ATTR { return tree<Operator, sources>(d, from, offset); };
  for (; at < stop; at += 4 * step) {
    const auto first = vector(at), second = vector(at + step);
    const auto third = vector(at + 2 * step), fourth = vector(at + 3 * step);
    store(first, d, target + at);
    store(second, d, target + at + step);
    store(third, d, target + at + 2 * step);
    store(fourth, d, target + at + 3 * step);
  }
  return at;
}

/// At least one vector. The last one overlaps the one before unless the length is a multiple: it is computed before
/// anything is stored, because the target may be a source. Where it streams, so is the first one, which is stored by
/// itself: streaming stores write whole vectors where they are aligned. Every kernel has this for every number of
/// sources, so each of its steps stands once.
template <class Operator, std::size_t sources, class D>
HWY_INLINE void combine_and_overlap(D d, const std::byte* const* from, std::byte* target, std::size_t bytes,
                                    bool streams) {
  const std::size_t step = bytes_of(d), last = bytes - step;
  const auto vector = [&](std::size_t offset) HWY_ATTR { return tree<Operator, sources>(d, from, offset); };
  const auto end = vector(last);
  std::size_t at = 0;
  if (streams) {
    store(vector(0), d, target);
    for (at = to_alignment(target, step); at < last; at += step) stream(vector(at), d, target + at);
  } else {
    if constexpr (sources <= 3) at = combine_fours<Operator, sources>(d, from, target, 0, last);
    for (; at < last; at += step) store(vector(at), d, target + at);
  }
  store(end, d, target + last);
}

/// The vector of the result of any number of sources that lies `offset` bytes from the start.
template <class Operator, class D>
hn::Vec<D> vector_of_tree(D d, addresses sources, std::size_t source_count, std::size_t offset) {
  if (source_count == 1) return load(d, position(sources, 0, offset));
  const std::size_t left = left_share(source_count);
  const auto first = vector_of_tree<Operator>(d, sources, left, offset);
  return Operator::apply(d, first, vector_of_tree<Operator>(d, sources + left, source_count - left, offset));
}

/// At least one small vector, and less than a full one, from any number of sources; as combine_and_overlap.
template <class Operator>
HWY_NOINLINE void combine_short(addresses sources, std::size_t source_count, std::byte* target, std::size_t bytes) {
  const typename Operator::small d;
  const std::size_t step = bytes_of(d), last = bytes - step;
  const auto end = vector_of_tree<Operator>(d, sources, source_count, last);
  for (std::size_t at = 0; at < last; at += step)
    store(vector_of_tree<Operator>(d, sources, source_count, at), d, target + at);
  store(end, d, target + last);
}

/// Any length, in one pass over so many sources.
template <class Operator, std::size_t sources>
HWY_NOINLINE void combine_group(addresses addresses_of, std::byte* target, std::size_t bytes, bool streams) {
  const typename Operator::full full;
  const typename Operator::small small;
  if (bytes < bytes_of(small)) return combine_elements<Operator>(addresses_of, sources, target, bytes);
  if constexpr (sources > 2)
    if (bytes < bytes_of(full)) return combine_short<Operator>(addresses_of, sources, target, bytes);
  const std::byte* from[sources];
  for (std::size_t i = 0; i < sources; ++i) from[i] = position(addresses_of, i, 0);
  if constexpr (sources == 2)
    if (bytes < bytes_of(full)) return combine_and_overlap<Operator, sources>(small, from, target, bytes, false);
  combine_and_overlap<Operator, sources>(full, from, target, bytes, streams);
}

/// What is combined first stays in the first cache: a multiple of every vector's length.
constexpr std::size_t block_bytes = 4096;

template <class Operator>
HWY_INLINE void combine_few(addresses sources, std::size_t source_count, std::byte* target, std::size_t bytes,
                            bool streams);

/// More sources, block by block: the tree's right side, of all but the first `left`, then these and what the right side
/// has made, which is still in the first cache.
template <class Operator, std::size_t left>
HWY_NOINLINE void combine_sides(addresses sources, std::size_t source_count, std::byte* target, std::size_t bytes,
                                bool streams) {
  HWY_ALIGN std::byte right[block_bytes];
  const std::size_t step = bytes_of(typename Operator::full());
  for (std::size_t offset = 0, length; offset < bytes; offset += length) {
    // Where it streams, the first block ends where the target is aligned, and so do the others.
    const std::size_t over = streams ? reinterpret_cast<std::uintptr_t>(target + offset) % step : 0;
    length = std::min(block_bytes - over, bytes - offset);
    const void* from[16];
    for (std::size_t i = 0; i < source_count; ++i) from[i] = position(sources, i, offset);
    combine_few<Operator>(from + left, source_count - left, right, length, false);
    from[left] = right;
    combine_group<Operator, left + 1>(from, target + offset, length, streams);
  }
}

/// 2 to 9 sources: in one pass as many as often are.
template <class Operator>
HWY_INLINE void combine_few(addresses sources, std::size_t source_count, std::byte* target, std::size_t bytes,
                            bool streams) {
  switch (source_count) {
    case 2:
      return combine_group<Operator, 2>(sources, target, bytes, streams);
    case 3:
      return combine_group<Operator, 3>(sources, target, bytes, streams);
    case 4:
      return combine_group<Operator, 4>(sources, target, bytes, streams);
    case 5:
      return combine_group<Operator, 5>(sources, target, bytes, streams);
    case 6:
    case 7:
      return combine_sides<Operator, 4>(sources, source_count, target, bytes, streams);
    case 8:
      return combine_group<Operator, 8>(sources, target, bytes, streams);
    default:
      return combine_group<Operator, 9>(sources, target, bytes, streams);
  }
}

/// Any number of sources.
template <class Operator>
HWY_INLINE void combine_several(addresses sources, std::size_t source_count, std::byte* target, std::size_t bytes,
                                bool streams) {
  if (source_count <= 9)
    combine_few<Operator>(sources, source_count, target, bytes, streams);
  else
    combine_sides<Operator, 8>(sources, source_count, target, bytes, streams);
}

/// Whether the target may be written past the caches: not where it is a source, which has been read into them, nor
/// where its elements keep vectors from being aligned.
template <class Operator>
HWY_INLINE bool may_stream(addresses sources, std::size_t source_count, const std::byte* target) {
  const std::size_t step = bytes_of(typename Operator::full());
  return step >= 16 && to_alignment(target, step) % sizeof(typename Operator::element) == 0 &&
         std::find(sources, sources + source_count, target) == sources + source_count;
}

template <class Operator>
HWY_NOINLINE void combine_large(addresses sources, std::size_t source_count, std::byte* target, std::size_t bytes) {
  const bool streams =
      bytes >= streaming_bytes() / (source_count + 1) && may_stream<Operator>(sources, source_count, target);
  combine_several<Operator>(sources, source_count, target, bytes, streams);
  // Before whatever this thread stores next: who sees that sees the target too.
  if (streams) hwy::FlushStream();
}

#endif  // !WEFT_KERNELS_SCALAR

template <class Operator>
void combine_arrays(addresses sources, std::size_t source_count, void* to, std::size_t count) {
  auto* const target = static_cast<std::byte*>(to);
  const std::size_t bytes = count * sizeof(typename Operator::element);
  if (source_count == 2 && bytes < shortest_vector) return combine_pairs<Operator>(sources, target, bytes);
  if (bytes == 0) return;
  if (source_count == 1) {
    if (sources[0] != to) std::memcpy(to, sources[0], bytes);
    return;
  }
#if WEFT_KERNELS_SCALAR
  combine_elements<Operator>(sources, source_count, target, bytes);
#else
  if (bytes >= large_bytes)
    combine_large<Operator>(sources, source_count, target, bytes);
  else
    combine_several<Operator>(sources, source_count, target, bytes, false);
#endif
}

/// The same for elements that are each `parts` of the operator's.
template <class Operator, std::size_t parts>
void combine_parts(addresses sources, std::size_t source_count, void* to, std::size_t count) {
  combine_arrays<Operator>(sources, source_count, to, count * parts);
}

/// combine_arrays() where that is to be in this build (kept.hpp); else null, and nothing of it is compiled.
template <bool kept, class Operator>
combine_function arrays_if() {
  if constexpr (kept)
    return &combine_arrays<Operator>;
  else
    return nullptr;
}
/// The same of combine_parts().
template <bool kept, class Operator, std::size_t parts>
combine_function parts_if() {
  if constexpr (kept)
    return &combine_parts<Operator, parts>;
  else
    return nullptr;
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
