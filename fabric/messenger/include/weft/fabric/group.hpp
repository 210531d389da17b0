// SPDX-License-Identifier: Apache-2.0
// Who the ranks of a communicator are.
#pragma once

#include <cstdint>
#include <vector>
#include <weft/fabric/board_ticket.hpp>

namespace weft::fabric {

/// The ranks of a communicator in order; shared by all that know the same communicator, never changed.
struct group {
  std::uint64_t communicator = 0;     ///< its id: the leader's world rank << 32 | the leader's counter; never reused
  std::vector<std::int32_t> world;    ///< each rank's rank in the world
  std::vector<std::int32_t> process;  ///< each rank's process
  std::vector<board_ticket> board{};  ///< of each rank's process, where ranks said that it has one for them
  /// The counter that each rank would have named it by as its leader; none where nobody was asked. By that a rank knows
  /// which communicator it did not get (messenger::refuse).
  std::vector<std::uint32_t> offered{};

  int size() const noexcept { return static_cast<int>(world.size()); }
};

}  // namespace weft::fabric
