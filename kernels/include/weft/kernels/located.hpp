// SPDX-License-Identifier: Apache-2.0
// A value with the place that it came from.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace weft {

/// An element of `min_location` and `max_location`, which find a value and where it is. The index has the value's
/// width, so that there is no padding: 32 bits beside float and std::int32_t, 64 beside double and std::int64_t.
template <class T>
requires(std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, std::int32_t> ||
         std::same_as<T, std::int64_t>) struct located {
  using index_type = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  T value;
  index_type index;
  friend constexpr bool operator==(const located&, const located&) = default;
};

}  // namespace weft
