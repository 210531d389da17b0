// SPDX-License-Identifier: Apache-2.0
// How long algorithms take among ranks whose messages share the links of a network, which formulas know nothing of
// (Patarasuk and Yuan 2009).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <weft/schedules/prediction.hpp>
#include <weft/simulator/model.hpp>
#include <weft/simulator/network.hpp>

namespace weft::simulator {

/// Where the ranks are, and what their messages cost there, in seconds.
struct priced_network {
  network links;
  machine_model model;
};

/// A call as the formulas see it.
struct formula_call {
  const schedules::algorithm_arguments& shape;
  std::size_t bytes = 0;  ///< as schedules::algorithm::cost counts them
  const schedules::path_costs& each;
  std::size_t segment = 1;  ///< bytes that no segment is to exceed
};

struct network_prediction {
  schedules::prediction predicted;
  double simulated = 0;  ///< what simulate() says; 0: it was not asked
};

/// An algorithm with more messages is not simulated.
inline constexpr std::uint64_t most_simulated = 4096;
/// Of more segments than have so many messages, as many as have, at least these, and half as many are simulated: each
/// further one adds what one of these does, or what the busiest link takes for it, which may not yet be shared by so few.
inline constexpr std::uint32_t least_simulated_segments = 32;
/// Of an algorithm with more messages the loads of links are not counted.
inline constexpr std::uint64_t most_counted = 1 << 18;

/// What an algorithm takes on the network, where its formula says `alone`: in the best number of segments, looked for
/// upward and downward from the formula's, what simulate() says, and on top what formulas know of costs that the
/// simulator's machine does not have (a handshake, an exchange's bytes, ...). With too many messages for that: its
/// formula, but no less than the busiest link takes for its bytes. Infinite where that is found to be `worth` or more.
/// Pure: every rank gets the same. Throws what the algorithm's builder throws.
network_prediction predict(const schedules::prediction& alone, const formula_call& of, const priced_network& on,
                           double worth = std::numeric_limits<double>::infinity());

}  // namespace weft::simulator
