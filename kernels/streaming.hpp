// SPDX-License-Identifier: Apache-2.0
// When targets are written past the caches.
#pragma once

#include <cstddef>
#include <string>

namespace weft::kernels {

/// Shorter targets are written into the caches whatever there is beside them.
constexpr std::size_t large_bytes = std::size_t{64} << 10;

/// Sources and target together, from which on the target is written past the caches: found on the first call, which
/// reads a few files, and the same from then on. Any thread.
std::size_t streaming_bytes();

/// The same where the largest cache that a processor reaches has so many bytes, 0 where that is unknown.
std::size_t streaming_bytes_beside(std::size_t largest_cache);

/// The bytes of the largest cache that a processor reaches, as Linux describes it in the folder
/// "/sys/devices/system/cpu"; 0 where it does not.
std::size_t largest_cache(const std::string& folder, int processor);

}  // namespace weft::kernels
