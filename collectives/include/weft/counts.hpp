// SPDX-License-Identifier: Apache-2.0
// Counts and displacements, as callers have them.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>

namespace weft {

/// How many elements the block of each rank has, or where it begins.
using block_counts = std::span<const std::size_t>;

/// Integers of another type than std::size_t, in a range that is in one piece.
template <class R>
concept range_to_convert =
    std::ranges::contiguous_range<R> && std::ranges::sized_range<R> && std::integral<std::ranges::range_value_t<R>> &&
    !std::same_as<std::ranges::range_value_t<R>, bool> &&
    !std::constructible_from<block_counts, R>;

/// Counts or displacements of whatever block_counts is made of, which it refers to, or a copy of those of another
/// integral type: `std::vector<int>`, `{3, 0, 4}`. The call that is given a negative one throws errc::invalid_count,
/// which names its rank and its value.
class given_counts {
 public:
  template <class... From>
  requires std::constructible_from<block_counts, From...> given_counts(From&&... from)
      : all_(std::forward<From>(from)...) {}
  template <range_to_convert R>
  given_counts(const R& from) : given_counts(std::ranges::data(from), std::ranges::size(from), copied()) {}
  template <std::integral T>
  given_counts(std::initializer_list<T> from) : given_counts(from.begin(), from.size(), copied()) {}

  /// Valid as long as this, or a copy of it.
  block_counts all() const noexcept { return all_; }

 private:
  struct copied {};

  template <class T>
  given_counts(const T* from, std::size_t count, copied) {
    const auto copy = std::make_shared_for_overwrite<std::size_t[]>(count);
    // What is negative is too much for any memory, and is found by that (calls/argument_checks.hpp).
    std::transform(from, from + count, copy.get(), [](T each) { return static_cast<std::size_t>(each); });
    all_ = {copy.get(), count};
    owned_ = copy;
  }

  block_counts all_;
  std::shared_ptr<const std::size_t[]> owned_;
};

}  // namespace weft
