// SPDX-License-Identifier: Apache-2.0
// What lies in the memory that the processes of a node share.
//
//   segment:  area of process 0 | area of process 1 | ... | rings of process 0 | ...   one for each process of the node
//   area:     board 0 (of the world) | board 1 | ...    one for each communicator that takes the arena
//             | its CPUs | the state of its rings       arena_ring.hpp
//   rings:    to process 0 | to process 1 | ...         memory once they are used
//   board:    lines | calls | whether its owner sleeps, or gave up | how often it was given | slots
//
// All that is a process's is written by it alone and read by the others. Nothing in a board is an address, an offset or
// a length: what is read depends on the reader's own call.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace weft::fabric {

/// Rounds after which a line is written again: a process is never further ahead of another than this allows.
inline constexpr std::uint32_t arena_depth = 32;

/// The longest vector that travels in the line that says that it is there, and in a slot, bytes; and the memory for
/// slots, of which shorter ones take less (slot_ring.hpp).
inline constexpr std::size_t arena_line_bytes = 56;
inline constexpr std::size_t arena_slot_bytes = 8 << 10;
inline constexpr std::size_t arena_slots_bytes = 4 * arena_slot_bytes;

/// Two cache lines, as processors fetch them in pairs.
inline constexpr std::size_t arena_alignment = 128;

/// The value of a round and, behind it in the same cache line, its stamp: round << 32 | a hash of all calls so far.
struct alignas(arena_alignment) arena_line {
  std::array<std::byte, arena_line_bytes> value;
  std::atomic<std::uint64_t> stamp{0};
};

/// The call of a round in full. Read by who finds that not all calls were the same, for his message; it may be written
/// again meanwhile, which the round tells.
struct arena_call {
  std::atomic<std::uint64_t> fingerprint{0};
  std::atomic<std::uint32_t> sequence{0};
  std::atomic<std::uint32_t> round{0};
};

struct arena_board {
  std::array<arena_line, arena_depth> lines;
  alignas(arena_alignment) std::array<arena_call, arena_depth> calls;
  /// 1 while the owner sleeps, or is about to, until another's stamp changes.
  alignas(arena_alignment) std::atomic<std::uint32_t> asleep{0};
  /// 1 once the owner's call has failed: what it told of its memory holds no more.
  std::atomic<std::uint32_t> withdrawn{0};
  /// How often it has been given to a communicator, twice, and one more when the latest of them has gone.
  alignas(arena_alignment) std::atomic<std::uint64_t> use{0};
  /// Whether that has gone: its owner publishes nothing any more. acquire: pairs with the release in
  /// arena_boards::retire(), behind all that it has published.
  bool is_left() const noexcept { return use.load(std::memory_order_acquire) % 2 != 0; }
  alignas(arena_alignment) std::array<std::byte, arena_slots_bytes> slots;
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::uint32_t>::is_always_lock_free);
static_assert(offsetof(arena_line, stamp) == arena_line_bytes && arena_line_bytes + 8 == 64);

}  // namespace weft::fabric
