// Processes of a node that share a cache, as those among whom short vectors are combined first.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>
#include <weft/fabric/arena_boards.hpp>

namespace weft::detail {

class process;

/// Of one of n processes in groups of g, all numbered by their seats: it combines what those of its group have, and
/// then what one of each group, the one at its own place there, has combined. That are g + n / g vectors to be read, of
/// which all but n / g are near, where n would have been.
struct node_groups {
  std::vector<std::size_t> beside;       ///< its own group, itself included, ascending
  std::vector<std::size_t> across;       ///< one of each group, in their order; of its own, itself
  std::vector<std::size_t> across_from;  ///< those of other groups that have it there

  /// `groups` hold every seat once. Nothing where they leave no less to be read.
  static std::optional<node_groups> of(std::span<const std::vector<int>> groups, std::size_t self);
};

/// The groups of a communicator's processes that are on one node and have these seats: as many consecutive ones as the
/// option `group-ranks` says, else those that share a last cache, where they are many, have a CPU each and are bound.
/// The same in every process. The first call may take some ten milliseconds.
std::vector<std::vector<int>> groups_on_node(process& host, std::span<const fabric::arena_boards::seat> seats);

}  // namespace weft::detail
