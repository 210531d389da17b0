// SPDX-License-Identifier: Apache-2.0
// What an algorithm sends through each link of a network.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>
#include <weft/schedules/every_rank.hpp>
#include <weft/simulator/network.hpp>

namespace weft::simulator {

/// Through a directed link.
struct link_traffic {
  std::uint64_t bytes = 0;
  std::uint64_t messages = 0;  ///< those without bytes, too
};

struct traffic {
  std::vector<link_traffic> links;  ///< of each one of the network
  std::uint64_t messages = 0;       ///< in all, within nodes, too
  bool is_whole = true;             ///< else some ranks were not looked at

  /// How long the busiest link takes for its bytes: nothing that sends them takes less.
  double least_time(const network& over) const;
};

/// Of all ranks' steps; but no further rank is looked at when there are more than `most` messages. Elements are bytes.
/// Throws what the builder throws.
traffic traffic_of(const network& over, int ranks, const schedules::partition& counts,
                   const schedules::steps_of_rank& steps,
                   std::uint64_t most = std::numeric_limits<std::uint64_t>::max());

}  // namespace weft::simulator
