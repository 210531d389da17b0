// SPDX-License-Identifier: Apache-2.0
// Who the ranks of a communicator are.
#pragma once

#include <cstdint>
#include <vector>
#include <weft/fabric/board_ticket.hpp>

namespace weft::fabric {

/// A communicator's id: its leader, which is a rank of the world, in the upper bits, and behind it the leader's
/// counter. Never reused: a rank that has named as many as there are names no more.
inline constexpr int counter_bits = 38;
inline constexpr std::uint64_t largest_counter = (std::uint64_t{1} << counter_bits) - 1;
inline constexpr std::uint64_t most_leaders = std::uint64_t{1} << (64 - counter_bits);
constexpr std::uint64_t communicator_id(std::uint64_t leader, std::uint64_t counter) noexcept {
  return leader << counter_bits | counter;
}
/// Leaders that are no ranks, numbered from the other end: of communicators that weft makes for itself.
constexpr std::uint64_t leader_from_end(std::uint64_t number) noexcept { return most_leaders - 1 - number; }
constexpr std::uint64_t leader_of(std::uint64_t id) noexcept { return id >> counter_bits; }
constexpr std::uint64_t counter_of(std::uint64_t id) noexcept { return id & largest_counter; }

/// The ranks of a communicator in order; shared by all that know the same communicator, never changed.
struct group {
  std::uint64_t communicator = 0;     ///< its id
  std::vector<std::int32_t> world;    ///< each rank's rank in the world
  std::vector<std::int32_t> process;  ///< each rank's process
  std::vector<board_ticket> board{};  ///< of each rank's process, where ranks said that it has one for them
  /// The counter that each rank would have named it by as its leader; none where nobody was asked. By that a rank knows
  /// which communicator it did not get (messenger::refuse).
  std::vector<std::uint64_t> offered{};

  int size() const noexcept { return static_cast<int>(world.size()); }
};

}  // namespace weft::fabric
