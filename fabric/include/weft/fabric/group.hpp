// Who the ranks of a communicator are.
#pragma once

#include <cstdint>
#include <vector>

namespace weft::fabric {

/// The ranks of a communicator in order; shared by all that know the same communicator, never changed.
struct group {
  std::uint64_t communicator = 0;     ///< its id: the leader's world rank << 32 | the leader's counter; never reused
  std::vector<std::int32_t> world;    ///< each rank's rank in the world
  std::vector<std::int32_t> process;  ///< each rank's process

  int size() const noexcept { return static_cast<int>(world.size()); }
};

}  // namespace weft::fabric
