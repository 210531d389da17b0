// Compiled once for every instruction set: foreach_target.h includes this file again and again.
#include "weft/kernels/combine.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "combine.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "operators-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels {
namespace HWY_NAMESPACE {

using addresses = const void* const*;

/// The lanes of `d`, at any byte address. One lane goes by memcpy: Highway's loads of a single lane dereference a
/// pointer to it, which has to be aligned.
template <class D>
HWY_INLINE hn::Vec<D> load(D d, const std::byte* from) {
  using lane = hn::TFromD<D>;
  if constexpr (hn::MaxLanes(D()) == 1) {
    lane value;
    std::memcpy(&value, from, sizeof value);
    return hn::Set(d, value);
  } else {
    return hn::LoadU(d, reinterpret_cast<const lane*>(from));
  }
}

template <class D>
HWY_INLINE void store(hn::Vec<D> vector, D d, std::byte* to) {
  using lane = hn::TFromD<D>;
  if constexpr (hn::MaxLanes(D()) == 1) {
    const lane value = hn::GetLane(vector);
    std::memcpy(to, &value, sizeof value);
  } else {
    hn::StoreU(vector, d, reinterpret_cast<lane*>(to));
  }
}

HWY_INLINE const std::byte* position(addresses sources, std::size_t source, std::size_t offset) {
  return static_cast<const std::byte*>(sources[source]) + offset;
}

/// One vector of the result: that of every source, `offset` bytes from its start.
template <class Operator, class D>
HWY_INLINE hn::Vec<D> fold(D d, addresses sources, std::size_t source_count, std::size_t offset) {
  auto result = load(d, position(sources, 0, offset));
  for (std::size_t i = 1; i < source_count; ++i)
    result = Operator::apply(d, result, load(d, position(sources, i, offset)));
  return result;
}

/// Fewer elements than a full vector holds: two vectors of the largest size that fits, which may overlap. Both are
/// computed before the first is stored, because the target may be a source.
template <class Operator, class Lane, std::size_t lane_limit>
HWY_INLINE void combine_few(addresses sources, std::size_t source_count, std::byte* target, std::size_t count) {
  const hn::CappedTag<Lane, lane_limit> d;
  const std::size_t lanes = hn::Lanes(d);
  if (count < lanes) {
    if constexpr (lane_limit > 1) combine_few<Operator, Lane, lane_limit / 2>(sources, source_count, target, count);
    return;
  }
  const std::size_t last = (count - lanes) * sizeof(Lane);
  const auto head = fold<Operator>(d, sources, source_count, 0);
  const auto tail = fold<Operator>(d, sources, source_count, last);
  store(head, d, target);
  store(tail, d, target + last);
}

/// Four vectors from every source, `offset` bytes from its start: independent chains that hide the operator's latency.
template <class Operator, class D>
HWY_INLINE void combine_four(D d, addresses sources, std::size_t source_count, std::byte* target, std::size_t offset) {
  const std::size_t size = hn::Lanes(d) * sizeof(hn::TFromD<D>);
  const std::byte* from = position(sources, 0, offset);
  auto first = load(d, from);
  auto second = load(d, from + size);
  auto third = load(d, from + 2 * size);
  auto fourth = load(d, from + 3 * size);
  for (std::size_t i = 1; i < source_count; ++i) {
    from = position(sources, i, offset);
    first = Operator::apply(d, first, load(d, from));
    second = Operator::apply(d, second, load(d, from + size));
    third = Operator::apply(d, third, load(d, from + 2 * size));
    fourth = Operator::apply(d, fourth, load(d, from + 3 * size));
  }
  store(first, d, target + offset);
  store(second, d, target + offset + size);
  store(third, d, target + offset + 2 * size);
  store(fourth, d, target + offset + 3 * size);
}

/// A full vector or more. The last vector overlaps the one before unless the count is a multiple of the lanes: it is
/// computed before anything is stored, because the target may be a source.
template <class Operator, class D>
HWY_INLINE void combine_many(D d, addresses sources, std::size_t source_count, std::byte* target, std::size_t count) {
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t size = lanes * sizeof(hn::TFromD<D>);
  const std::size_t last = (count - lanes) * sizeof(hn::TFromD<D>);
  const auto tail = fold<Operator>(d, sources, source_count, last);
  std::size_t offset = 0;
  for (; offset + 3 * size <= last; offset += 4 * size)
    combine_four<Operator>(d, sources, source_count, target, offset);
  for (; offset < last; offset += size) store(fold<Operator>(d, sources, source_count, offset), d, target + offset);
  store(tail, d, target + last);
}

template <class Operator, class Lane>
void combine_arrays(addresses sources, std::size_t source_count, void* to, std::size_t count) {
  const hn::ScalableTag<Lane> d;
  auto* const target = static_cast<std::byte*>(to);
  if (count < hn::Lanes(d)) {
    combine_few<Operator, Lane, (hn::MaxLanes(hn::ScalableTag<Lane>()) + 1) / 2>(sources, source_count, target, count);
  } else {
    combine_many<Operator>(d, sources, source_count, target, count);
  }
}

template <class Operator>
combine_function choose_type(type element) {
  switch (element) {
    case type::float32:
      return &combine_arrays<Operator, typename Operator::template lane<float>>;
    case type::float64:
      return &combine_arrays<Operator, typename Operator::template lane<double>>;
    case type::int32:
      return &combine_arrays<Operator, typename Operator::template lane<std::int32_t>>;
    case type::int64:
      return &combine_arrays<Operator, typename Operator::template lane<std::int64_t>>;
    default:
      return nullptr;
  }
}

combine_function choose(operation combined_by, type element) {
  switch (combined_by) {
    case operation::sum:
      return choose_type<sum>(element);
    case operation::product:
      return choose_type<product>(element);
    case operation::min:
      return choose_type<minimum>(element);
    case operation::max:
      return choose_type<maximum>(element);
    default:
      return nullptr;
  }
}

const char* target_name() { return hwy::TargetName(HWY_TARGET); }

}  // namespace HWY_NAMESPACE
}  // namespace weft::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace weft::kernels {

HWY_EXPORT(choose);
HWY_EXPORT(target_name);

combine_function combine(operation combined_by, type element) {
  if (combined_by == operation::sum && element == type::reproducible_float32) return &merge_arrays<float>;
  if (combined_by == operation::sum && element == type::reproducible_float64) return &merge_arrays<double>;
  const combine_function function = HWY_DYNAMIC_DISPATCH(choose)(combined_by, element);
  if (function == nullptr) throw std::invalid_argument(refusal(combined_by, element));
  return function;
}

std::string_view instruction_set() noexcept { return HWY_DYNAMIC_DISPATCH(target_name)(); }

}  // namespace weft::kernels
#endif
