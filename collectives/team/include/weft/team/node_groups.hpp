// SPDX-License-Identifier: Apache-2.0
// Processes of a node that share a cache, as those among whom short vectors are combined first.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>
#include <weft/fabric/arena_boards.hpp>
#include <weft/patterns/in_groups.hpp>

namespace weft::detail {

class process;

/// The place of process `self` in such groups, where these leave less to be read.
std::optional<patterns::two_levels> worthwhile_levels(std::span<const std::vector<int>> groups, std::size_t self);

/// The groups of a communicator's processes that are on one node and have these seats: as many consecutive ones as the
/// option `group-ranks` says, else those that share a last cache, where they are many, have a CPU each and are bound.
/// The same in every process. The first call may take some ten milliseconds.
std::vector<std::vector<int>> groups_on_node(process& host, std::span<const fabric::arena_boards::seat> seats);

}  // namespace weft::detail
