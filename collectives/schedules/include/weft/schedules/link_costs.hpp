// SPDX-License-Identifier: Apache-2.0
// What a message costs, as the formulas of the table of algorithms take it.
#pragma once

#include <limits>

namespace weft::schedules {

/// Seconds to start a transfer, for each of its bytes, and to combine each of them: what the formulas of the literature
/// have. What else can be measured of a machine refines them: LogGP's ports are busy with one of several messages for
/// the gap or its bytes, whichever is longer, while processors combine.
struct link_costs {
  /// Of a message that is still in the core's own caches when it is combined, or sent on.
  static constexpr double cached = 256 << 10;

  constexpr link_costs() = default;
  constexpr link_costs(double a, double b, double c) : alpha(a), beta(b), gamma(c), gap(a), exchange(b), read(b) {}

  double alpha = 0;
  double beta = 0;
  double gamma = 0;
  double gap = 0;  ///< between the begins of two transfers of a rank, of which the second need not wait for the first
  double overhead = 0;   ///< of a rank's processor, for a message, at each end: part of alpha
  double exchange = 0;   ///< for each byte where a rank sends and receives as many at the same time
  double handshake = 0;  ///< to start a transfer of more than `eager` bytes, beside α and the gap
  double eager = std::numeric_limits<double>::infinity();
  double at_once = 0;  ///< bytes of the longest vector of whose messages none needs a handshake
  double read = 0;     ///< for each byte that is read of another process's memory,
  double call = 0;     ///< and for each time that the kernel is called to
  double far = 0;      ///< for each byte of a message beyond `cached`, beside β
};

/// The costs between any two ranks, and those between ranks of a group.
struct path_costs : link_costs {
  constexpr path_costs() = default;
  constexpr path_costs(double a, double b, double c) : path_costs(link_costs(a, b, c)) {}
  constexpr path_costs(const link_costs& all) : link_costs(all), near(all) {}
  constexpr path_costs(const link_costs& all, const link_costs& within) : link_costs(all), near(within) {}

  /// Of the messages of a vector of so many bytes.
  constexpr path_costs of_vector(double bytes) const {
    path_costs its = *this;
    for (link_costs* const one : {static_cast<link_costs*>(&its), &its.near})
      if (bytes <= one->at_once) one->handshake = 0;
    return its;
  }

  link_costs near;
  double sharing = 1;  ///< ranks that share a processor
};

}  // namespace weft::schedules
