// SPDX-License-Identifier: Apache-2.0
// What the simulated machine costs: LogGP (Alexandrov, Ionescu, Schauser and Scheiman 1995) as LogGOPSim extends it by
// O and S (Hoefler, Schneider and Lumsdaine 2010), computation, ports and noise.
//
// A message of B bytes, eager, on an idle machine, time going to the right:
//
//     sender's CPU      | o + B O |
//     sender's port               | B G |          taken for max(g, B G), from its first byte on
//     wire                        |<- L ->|
//     receiver's port                     | B G |  taken for max(g, B G)
//     receiver's CPU                            | o + B O |       the receive is done
//
// so that it takes L + B G + 2 (o + B O). Work of the CPU is done piece by piece, in the order in which it became ready
// (where that is equal, in the order of the rank's steps); transfers go on meanwhile. Work that takes no time needs no
// CPU: with o = O = 0 a rank sends, receives and combines at once.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <weft/simulator/noise_trace.hpp>

namespace weft::simulator {

/// How many transfers a rank takes part in. A port takes messages in the order in which they became ready (to be sent,
/// or to be received); where that is equal, in the order of the rank's steps.
enum class port_model : std::uint8_t {
  pipelined,  ///< LogGP: one port out and one in, each of which handles one message at a time; latency takes no port
  one,        ///< one transfer out and one in at a time, each taking both its ports from its begin to its end, L
              ///< included: Canon and Antoniu 2012, with d = L + B G where o = O = g = 0
  many,       ///< any number of transfers at full speed; g does not count
};

/// What takes the ranks' CPUs away: for `duration` in every `period`, or as it was recorded. What was being done goes
/// on afterwards. A rank begins when its CPU is there, at time 0 or later.
struct noise_model {
  double period = 0;    ///< 0: no noise
  double duration = 0;  ///< less than the period
  enum class phase : std::uint8_t {
    random,       ///< of each rank, drawn from the seed
    coscheduled,  ///< the same for all ranks, drawn from the seed
  } phases = phase::random;
  std::uint64_t seed = 0;
  /// A thread on a core of its own runs what has begun: noise only delays when a rank begins.
  bool progress_thread = false;
  /// In place of a period: repeated, so that its begin follows its end. Each rank begins somewhere in it.
  std::shared_ptr<const noise_trace> trace = nullptr;
};

/// All times in one unit, whichever; bytes are bytes. Times that are whole numbers stay so, and exact up to 2^53, but
/// for shared links.
struct machine_model {
  double latency = 0;            ///< L: from a byte's leaving to its arrival
  double overhead = 0;           ///< o: of the CPU, for each message, at each end
  double gap = 0;                ///< g: between the begins of two messages of one port
  double gap_per_byte = 0;       ///< G: of a port
  double overhead_per_byte = 0;  ///< O: of the CPU, at each end
  /// c: of the CPU, for each byte combined or copied. Combining n operands of B bytes costs (n - 1) B c; where
  /// some are in other ranks' memory (n - 1) B (c + G). Copying from there costs B G.
  double compute_per_byte = 0;

  /// S: messages up to so many bytes are eager: the send is done when the CPU has done its part, and the bytes wait at
  /// the receiver for its receive, if need be. A longer one is a rendezvous: when the CPUs' part o + B O is done, a
  /// request takes L to the receiver; when the receive has begun too, a grant takes L back; then the transfer may
  /// begin, and the send is done when its last byte has left. Requests and grants take no CPU and no port.
  std::uint64_t eager_limit = std::numeric_limits<std::uint64_t>::max();
  /// A rendezvous needs no request: a receive that depends on nothing was granted before the operation began, any other
  /// one sends its grant when it begins, L ahead.
  bool preposted = false;

  port_model ports = port_model::pipelined;
  noise_model noise;
};

/// Throws std::invalid_argument, naming the parameter, unless all are finite and at least 0 and the noise leaves time
/// to work.
void check(const machine_model& model);

}  // namespace weft::simulator
