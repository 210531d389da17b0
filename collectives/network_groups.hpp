// Which ranks of a communicator are near each other, on nodes and on the network between these.
#pragma once

#include <cstdint>
#include <span>
#include <vector>
#include <weft/topology/network_place.hpp>

#include "rank_groups.hpp"

namespace weft::detail {

/// As rank_groups' constructor makes them, where of each process of the job is also known where it is on the network,
/// unless `places` is empty: of ranks in several clusters groups are those of each cluster, where `each` is 0.
rank_groups groups_on_network(std::span<const std::int32_t> process, std::span<const int> node,
                              const std::vector<bool>& reads, int each,
                              std::span<const topology::network_place> places);

}  // namespace weft::detail
