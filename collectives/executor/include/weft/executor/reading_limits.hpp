// What holds wherever other processes' memory is read, in blocking calls and in schedules.
#pragma once

#include <chrono>
#include <cstddef>

namespace weft::detail {

/// Bytes that are read before they are combined, of all the others together, so that they stay in a core's own cache;
/// and the least of one of them, since each read is a system call.
inline constexpr std::size_t most_pieces = 128 << 10;
inline constexpr std::size_t least_piece = 16 << 10;

/// Who cannot be read has ended, or left a call that failed, most likely: so long it may take until that is known here,
/// and so often it is looked for.
inline constexpr std::chrono::seconds time_to_explain{1};
inline constexpr std::chrono::milliseconds between_looks{1};

}  // namespace weft::detail
