// SPDX-License-Identifier: Apache-2.0
// A network between ranks with what was measured of it, as the simulator takes both.
#pragma once

#include <span>
#include <weft/choice/rank_groups.hpp>
#include <weft/schedules/machine_costs.hpp>
#include <weft/simulator/network_prediction.hpp>
#include <weft/topology/network.hpp>

namespace weft::detail {

/// The switches of the network, then its machines, as the nodes of a tree; the ranks on these machines (indices in
/// network::machines). Every link takes `gap_per_byte`, more than 0, for a byte.
simulator::network links_of(const topology::network& from, std::span<const int> machine_of_rank, double gap_per_byte);

/// What messages cost over one road, in seconds, where a byte is combined in `combine`.
simulator::machine_model model_of(const schedules::road_costs& costs, double combine);

/// The ranks of `groups`, which are on machines of the network. A message costs what its road does: over the links of
/// the shortest one alone, of a machine between machines, and of a cluster between clusters, these make it later and
/// its bytes slower. A link carries as much as was measured through it at a time: one pair's messages, between clusters
/// those of `connections` pairs.
simulator::priced_network priced(const topology::network& from, const rank_groups& groups,
                                 const schedules::machine_costs& costs, double combine, int connections);

}  // namespace weft::detail
