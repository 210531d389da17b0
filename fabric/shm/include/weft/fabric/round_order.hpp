// SPDX-License-Identifier: Apache-2.0
// Why what is written in a round overwrites nothing that another process still reads.
#pragma once

#include <cstdint>

namespace weft::fabric {

/// One process's count of rounds, and what it knows of where the others are. A line is written again after `depth`
/// rounds, a slot when its memory comes round again; who is in a later round than the one in which it was written has
/// ended that, and reads it no more. So a round may begin as soon as all others are in the latest of
///
///     the last but depth - 1 round   all have ended the round in which its line was written before
///     the round that its slot needs  the same of the slot (slot_ring.hpp)
///
/// where a process is in a round from its publish on. Rounds wrap. A value; one thread's. Proved for all sequences of a
/// few calls of 2 and 3 processes, in every order of their steps: tests/fabric/test_round_order.cpp.
class round_order {
 public:
  explicit constexpr round_order(std::uint32_t depth) noexcept : depth_(depth) {}

  /// This round.
  std::uint32_t number() const noexcept { return round_; }

  /// Begins the next round, which writes memory that needs all others in the round `needed`. Whether it is known that
  /// they are; else they are to be looked at, and `settle` follows.
  bool begin(std::uint32_t needed) noexcept {
    ++round_;
    const std::uint32_t line_needs = round_ - (depth_ - 1);
    needed_ = is_before(needed, line_needs) ? line_needs : needed;
    return !is_before(settled_, needed_);
  }
  /// That in which they have to be before this round writes.
  std::uint32_t needed() const noexcept { return needed_; }
  /// The latest round that all others are known to be in.
  std::uint32_t settled() const noexcept { return settled_; }
  /// All others have been seen in that round, or a later one.
  void settle(std::uint32_t round) noexcept { settled_ = round; }

  static bool is_before(std::uint32_t one, std::uint32_t other) noexcept {
    return static_cast<std::int32_t>(one - other) < 0;
  }

 private:
  std::uint32_t depth_;
  std::uint32_t round_ = 0;
  std::uint32_t needed_ = 0;
  std::uint32_t settled_ = 0;
};

}  // namespace weft::fabric
