// SPDX-License-Identifier: Apache-2.0
// Parts of arrays of up to four dimensions, as buffers of messages and collectives.
//
//   weft::array_view grid = weft::view(cells, nz, ny, nx);               // the last index runs fastest
//   world.send(grid.slice(2, 0), west);                                  // a face, whose elements lie nx apart
//   world.recv(grid.part({0, 0, 0}, {nz, ny, 1}), west);
//   world.gather(weft::view(a, rows, columns).column(j), column_of_all, root);
#pragma once

#include <weft/api.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <memory>
#include <ranges>
#include <string>
#include <type_traits>
#include <weft/layout.hpp>
#include <weft/operators.hpp>
#include <weft/runtime/error.hpp>

namespace weft {

namespace detail {
/// Throws errc::invalid_argument: such a view does not lie in what there is.
[[noreturn]] WEFT_API void refuse_view(const std::string& why);
/// Where the elements of a view lie; null: in one piece.
WEFT_API std::shared_ptr<const spread> spread_of_view(std::size_t element_bytes, std::span<const std::size_t> extents,
                                                      std::span<const std::ptrdiff_t> strides);
}  // namespace detail

/// What std::mdspan and its kin are.
template <class M, class T, std::size_t N>
concept mdspan_like = M::rank()
== N&& requires(const M& of) {
  { of.data_handle() } -> std::convertible_to<T*>;
  { of.extent(0) } -> std::convertible_to<std::size_t>;
  { of.stride(0) } -> std::convertible_to<std::ptrdiff_t>;
};

/// Elements that others own, in an order of their own: the last index runs fastest. Where they do not lie in one piece
/// in that order, calls pack them, as they do elements of a weft::type. A view is copied like a pointer.
template <carriable T, std::size_t N>
requires(N >= 1 && N <= 4) class array_view : public detail::described {
 public:
  using extents_type = std::array<std::size_t, N>;
  using strides_type = std::array<std::ptrdiff_t, N>;

  /// Elements that lie `strides` elements apart, in each dimension.
  array_view(T* data, const extents_type& extents, const strides_type& strides) noexcept
      : described{spread_of}, data_(data), extents_(extents), strides_(strides) {}
  /// All elements of `of`, which has as many; else throws errc::invalid_argument.
  template <std::ranges::contiguous_range R>
  requires std::ranges::sized_range<R> && std::convertible_to<decltype(std::ranges::data(std::declval<R&>())), T*>
  array_view(R&& of, const extents_type& extents)
      : array_view(std::ranges::data(of), extents, packed_strides(extents)) {
    std::size_t room = std::ranges::size(of);  // in the dimensions that are left
    bool fits = true;
    for (const std::size_t each : extents) {
      fits = fits && (each == 0 || room % each == 0);
      if (each != 0) room /= each;
    }
    const bool is_empty = std::ranges::count(extents, std::size_t{0}) != 0;
    if (is_empty ? std::ranges::empty(of) : fits && room == 1) return;
    detail::refuse_view("a view of " + text(extents_) + " elements, of an array that has " +
                        std::to_string(std::ranges::size(of)));
  }
  /// What an mdspan views.
  template <mdspan_like<T, N> M>
  array_view(const M& of) : described{spread_of}, data_(of.data_handle()) {
    for (std::size_t d = 0; d < N; ++d) {
      extents_[d] = static_cast<std::size_t>(of.extent(d));
      strides_[d] = static_cast<std::ptrdiff_t>(of.stride(d));
    }
  }
  /// Of elements that are not written through it.
  operator array_view<const T, N>() const noexcept requires(!std::is_const_v<T>) { return {data_, extents_, strides_}; }

  T* data() const noexcept { return data_; }
  const extents_type& extents() const noexcept { return extents_; }
  const strides_type& strides() const noexcept { return strides_; }
  /// Elements.
  std::size_t size() const noexcept {
    std::size_t all = 1;
    for (const std::size_t each : extents_) all *= each;
    return all;
  }
  template <std::convertible_to<std::size_t>... Index>
  requires(sizeof...(Index) == N) T& operator()(Index... at) const noexcept {
    const strides_type index{static_cast<std::ptrdiff_t>(at)...};
    std::ptrdiff_t from_first = 0;
    for (std::size_t d = 0; d < N; ++d) from_first += index[d] * strides_[d];
    return data_[from_first];
  }

  /// The `extents` elements from index `first` on. Throws errc::invalid_argument where it has not as many.
  array_view part(const extents_type& first, const extents_type& extents) const {
    array_view some = *this;
    for (std::size_t d = 0; d < N; ++d) {
      if (first[d] > extents_[d] || extents[d] > extents_[d] - first[d])
        detail::refuse_view("a part of " + text(extents) + " elements from " + text(first) + " on, of a view of " +
                            text(extents_));
      some.data_ += static_cast<std::ptrdiff_t>(first[d]) * strides_[d];
    }
    some.extents_ = extents;
    return some;
  }
  /// Those whose index of that dimension is this. Throws errc::invalid_argument where there is none.
  auto slice(std::size_t dimension, std::size_t index) const requires(N > 1) {
    if (dimension >= N || index >= extents_[dimension])
      detail::refuse_view("index " + std::to_string(index) + " of dimension " + std::to_string(dimension) +
                          ", of a view of " + text(extents_));
    std::array<std::size_t, N - 1> extents{};
    std::array<std::ptrdiff_t, N - 1> strides{};
    for (std::size_t d = 0, left = 0; d < N; ++d) {
      if (d == dimension) continue;
      extents[left] = extents_[d];
      strides[left++] = strides_[d];
    }
    return array_view<T, N - 1>(data_ + static_cast<std::ptrdiff_t>(index) * strides_[dimension], extents, strides);
  }
  array_view<T, 1> row(std::size_t index) const requires(N == 2) { return slice(0, index); }
  array_view<T, 1> column(std::size_t index) const requires(N == 2) { return slice(1, index); }
  array_view rows(std::size_t first, std::size_t count) const requires(N == 2) {
    return part({first, 0}, {count, extents_[1]});
  }
  array_view columns(std::size_t first, std::size_t count) const requires(N == 2) {
    return part({0, first}, {extents_[0], count});
  }

  /// Whether they lie in one piece, in their order.
  bool is_contiguous() const noexcept {
    std::size_t behind = 1;
    for (std::size_t d = N; d-- != 0; behind *= extents_[d])
      if (extents_[d] > 1 && strides_[d] != static_cast<std::ptrdiff_t>(behind)) return size() == 0;
    return true;
  }

 private:
  static strides_type packed_strides(const extents_type& extents) noexcept {
    strides_type strides{};
    std::size_t behind = 1;
    for (std::size_t d = N; d-- != 0; behind *= extents[d]) strides[d] = static_cast<std::ptrdiff_t>(behind);
    return strides;
  }
  static std::string text(const extents_type& of) {
    std::string all;
    for (const std::size_t each : of) all += (all.empty() ? "" : " x ") + std::to_string(each);
    return all;
  }
  static std::shared_ptr<const detail::spread> spread_of(const described& of) {
    const auto& its = static_cast<const array_view&>(of);
    return its.is_contiguous() ? nullptr : detail::spread_of_view(sizeof(T), its.extents_, its.strides_);
  }

  T* data_;
  extents_type extents_;
  strides_type strides_;
};

/// All elements of an array, which has as many; else throws errc::invalid_argument.
template <std::ranges::contiguous_range R, std::convertible_to<std::size_t>... Extent>
requires std::ranges::sized_range<R> &&
    (sizeof...(Extent) >= 1 && sizeof...(Extent) <= 4) auto view(R&& of, Extent... extents) {
  using element = std::remove_reference_t<std::ranges::range_reference_t<R>>;
  return array_view<element, sizeof...(Extent)>(of, {static_cast<std::size_t>(extents)...});
}

}  // namespace weft
