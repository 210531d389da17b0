// SPDX-License-Identifier: Apache-2.0
// Numbers of bytes as people write them.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace weft {

/// The number of bytes that is written as 8, 64k, 64K, 4KiB or 1M, by powers of 1024. Nothing where it is not written so,
/// or more than a std::size_t holds.
std::optional<std::size_t> parse_byte_size(std::string_view text) noexcept;

}  // namespace weft
