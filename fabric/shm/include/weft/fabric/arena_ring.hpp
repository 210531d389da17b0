// SPDX-License-Identifier: Apache-2.0
// Records from one process of a node to another one, in memory that both see.
//
//     | record | record | ...  | next one's place |          each begins with a word that says which it is, on a line
//       ^ reader                 ^ writer                    of its own; the writer fills that in last
//
// Records are numbered. At the next one's place is 0, or the word of an earlier one: so a record of one line takes one
// line from core to core, and not the next one's, too, which its reader looks at already.
//
// The writer goes back to the beginning as soon as the reader has left it, once it has come so far that the ring is
// worth using again; where the reader is slow it goes on and makes more memory of the ring. So a ring takes as much as
// its reader's delay needs, and a pair that talks little stays within a page.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <weft/fabric/arena_board.hpp>

namespace weft::fabric {

/// What the writer of a ring says beside its records.
struct alignas(arena_alignment) arena_ring_state {
  std::atomic<std::uint64_t> opened{0};  ///< 1 once there is memory to look at
  std::atomic<std::uint64_t> ended{0};   ///< 1 once what records tell of the writer's memory holds no more
};

/// How far its reader has come: laps << 32 | offset. All before it may be written again.
struct alignas(arena_alignment) arena_ring_reading {
  std::atomic<std::uint64_t> position{0};
};

/// What a process says of its rings to and from another one.
struct arena_ring_ends {
  arena_ring_state to;
  arena_ring_reading from;
};

/// The longest that a ring becomes, bytes.
inline constexpr std::size_t arena_ring_bytes = 1 << 20;

/// The one who writes. One thread at a time.
class arena_ring_writer {
 public:
  /// `memory`: arena_ring_bytes, without pages at first. `reserve(offset, bytes)` makes pages of a part, or returns
  /// false where it may not: then the ring stays as long as it is, which must have room for two of the longest records.
  /// What it throws goes through `put`.
  arena_ring_writer(std::byte* memory, arena_ring_state& state, const arena_ring_reading& reading,
                    std::function<bool(std::size_t offset, std::size_t bytes)> reserve);

  /// Appends a record of `kind`, above 0, with these bytes, the one part behind the other; false where there is no room
  /// now. Never blocks.
  bool put(std::uint8_t kind, std::span<const std::byte> first, std::span<const std::byte> second = {});
  /// The same in two steps: where so many bytes of a record are to be, or null where there is no room now; and once
  /// they are there.
  std::byte* room_for(std::size_t bytes);
  void publish(std::uint8_t kind, std::size_t bytes) noexcept;
  /// Whether records that take so many bytes together would find room in what a ring has that is used at all: of each
  /// the bytes that `place_of` says. From then on they do.
  bool has_usual_room(std::size_t bytes) { return make_room(bytes, usual_bytes); }
  /// How long a ring must become for records of so many bytes: it then has room for two.
  static std::size_t least_bytes(std::size_t longest) noexcept;
  static constexpr std::size_t place_of(std::size_t bytes) noexcept {
    return (word_bytes + bytes + line_bytes - 1) / line_bytes * line_bytes;
  }
  /// What its records told of may change from now on: the reader has been given up.
  void end() noexcept;

 private:
  friend class arena_ring_reader;
  static constexpr std::size_t line_bytes = 64;
  /// In front of a record's bytes: its number << 32 | its kind << 24 | how many. 0: not written yet.
  static constexpr std::size_t word_bytes = sizeof(std::uint64_t);
  /// Of a ring that is used, until its reader is found to be slow.
  static constexpr std::size_t usual_bytes = 32 << 10;
  /// The line so many ahead of a record is asked for.
  static constexpr std::size_t lines_ahead = 8;

  /// Within so many bytes from the beginning on.
  bool make_room(std::size_t bytes, std::size_t within);
  bool fits_behind_reader(std::size_t bytes) const noexcept;
  bool begins_record(std::size_t offset) const noexcept;
  void note_record(std::size_t place) noexcept;
  bool grow(std::size_t end);
  void look_at_reader() noexcept;
  void begin_again() noexcept;

  std::byte* const memory_;
  arena_ring_state& state_;
  const arena_ring_reading& reading_;
  const std::function<bool(std::size_t, std::size_t)> reserve_;
  std::size_t reserved_ = 0;  // from the beginning on
  std::uint32_t number_ = 1;  // of the next record
  std::uint32_t lap_ = 0;
  std::size_t offset_ = 0;
  std::array<bool, usual_bytes / line_bytes> begins_;  // of each line: in it a record began when it was last passed
  std::uint32_t reader_lap_ = 0;                       // as last seen
  std::size_t reader_offset_ = 0;
};

/// The one who reads. One thread at a time.
class arena_ring_reader {
 public:
  arena_ring_reader(const std::byte* memory, const arena_ring_state& state, arena_ring_reading& reading) noexcept
      : memory_(memory), state_(state), reading_(reading) {}

  struct record {
    std::uint8_t kind = 0;  ///< 0: there is none
    std::span<const std::byte> bytes;
  };
  /// The next record, which stays where it is until `release`. Throws errc::protocol where there is none that a writer
  /// can have made.
  record next();
  /// All records so far may be written over.
  void release() noexcept;
  /// Whether what was read until now of the writer's memory may be something else than its records told of.
  bool ended() const noexcept;

 private:
  const std::byte* const memory_;
  const arena_ring_state& state_;
  arena_ring_reading& reading_;
  bool opened_ = false;
  std::uint32_t number_ = 1;
  std::uint32_t lap_ = 0;
  std::size_t offset_ = 0;
};

}  // namespace weft::fabric
