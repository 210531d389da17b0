// SPDX-License-Identifier: Apache-2.0
// Counts and displacements, as callers have them.
#pragma once

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

/// Integers that are not std::size_t in one piece.
template <class R>
concept range_to_convert =
    std::ranges::input_range<R> && std::ranges::sized_range<R> && std::integral<std::ranges::range_value_t<R>> &&
    !std::same_as<std::ranges::range_value_t<R>, bool> &&
    !std::constructible_from<block_counts, R>;

/// Counts or displacements of whatever block_counts is made of, which it refers to, or a copy of any others:
/// `std::vector<int>`, `{3, 0, 4}`, a transformed view. The call that is given a negative one throws
/// errc::invalid_count, which names its rank and its value.
class given_counts {
 public:
  template <class... From>
  requires std::constructible_from<block_counts, From...> given_counts(From&&... from)
      : all_(std::forward<From>(from)...) {}
  template <class R>
  requires range_to_convert<const R> given_counts(const R& from)
      : given_counts(std::ranges::begin(from), std::ranges::size(from), copied()) {}
  template <std::integral T>
  given_counts(std::initializer_list<T> from) : given_counts(from.begin(), from.size(), copied()) {}

  /// Valid as long as this, or a copy of it.
  block_counts all() const noexcept { return all_; }

 private:
  struct copied {};

  template <class From>
  given_counts(From from, std::size_t count, copied) {
    const auto copy = std::make_shared_for_overwrite<std::size_t[]>(count);
    // What is negative is too much for any memory, and is found by that (calls/argument_checks.hpp).
    for (std::size_t i = 0; i < count; ++i, ++from) copy[i] = static_cast<std::size_t>(*from);
    all_ = {copy.get(), count};
    owned_ = copy;
  }

  block_counts all_;
  std::shared_ptr<const std::size_t[]> owned_;
};

}  // namespace weft
