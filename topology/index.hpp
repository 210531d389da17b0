// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace weft::topology {

/// A number that is not negative as an index.
constexpr std::size_t at(int number) noexcept { return static_cast<std::size_t>(number); }

}  // namespace weft::topology
