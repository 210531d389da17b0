// SPDX-License-Identifier: Apache-2.0
// How processes of a node tell each other which of their boards belongs to a communicator.
#pragma once

#include <cstdint>

namespace weft::fabric {

/// A board of a process for one communicator, as others are told of it: how often it has been given, and which it is.
struct board_ticket {
  std::uint64_t use = 0;  ///< 0: there is none
  std::uint32_t board = 0;
  std::uint32_t unused = 0;
  explicit operator bool() const noexcept { return use != 0; }
};

/// What every process has for the world.
inline constexpr board_ticket ticket_of_world{1, 0};

}  // namespace weft::fabric
