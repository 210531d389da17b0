// SPDX-License-Identifier: Apache-2.0
// Times a workload on a machine model, event by event.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>
#include <weft/simulator/model.hpp>
#include <weft/simulator/network.hpp>
#include <weft/simulator/workload.hpp>

namespace weft::simulator {

/// Names an activity of a simulation: of a step, the work of its rank's CPU or, of a send, the transfer.
using activity_id = std::uint64_t;
inline constexpr activity_id no_activity = std::numeric_limits<activity_id>::max();

enum class activity_kind : std::uint8_t { send_overhead, transfer, receive_overhead, compute };

struct activity {
  activity_kind kind = activity_kind::compute;
  int rank = -1;             ///< whose CPU; of a transfer, the sender
  step_index step = 0;       ///< of `rank`; of a transfer, the send
  int peer = -1;             ///< of a message
  std::uint64_t amount = 0;  ///< bytes, or of a calculation time
  double sent = 0;           ///< of a transfer: when its first byte left
  double start = 0;          ///< of a transfer that waited at the receiver's port: when its first byte was taken
  double end = 0;            ///< what noise takes meanwhile included
  activity_id id = no_activity;
  activity_id cause = no_activity;  ///< what it had to wait for last; none: nothing, or the rank's own begin
};

/// Is told of every activity that takes time, when its end is known. Ends are in no particular order.
class observer {
 public:
  virtual ~observer() = default;
  /// Asked before: whether it wants to be told of this one.
  virtual bool wants(activity_id /*what*/, activity_id /*cause*/) { return true; }
  virtual void happened(const activity& what) = 0;
};

struct rank_times {
  double finish = 0;  ///< when the last of its steps was done
  double busy = 0;    ///< what its CPUs worked, without noise
};

struct simulation {
  double completion = 0;  ///< when every rank had finished
  std::vector<rank_times> ranks;
  std::uint64_t messages = 0;      ///< received
  activity_id last = no_activity;  ///< what ended at `completion`, where anything took time
  /// Time in which the CPUs of `rank` did nothing, up to completion.
  double idle(int rank, int cpus = 1) const { return completion * cpus - ranks[static_cast<std::size_t>(rank)].busy; }
};

/// Ranks wait for one another, or themselves, for ever.
class deadlock : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Runs the workload from time 0 to its end. Where a network is given, the bytes of a transfer under way flow at the
/// rate that max-min fair sharing gives: all rates grow alike until a link is full, those of its transfers then stay,
/// the others grow on, up to 1 / G; a rank's port in is such a link too, where ports are `pipelined`. Latency follows
/// when the last byte has flowed.
///
/// The same arguments give the same result, on every machine. Blocks for a fraction of a microsecond a step; memory: a
/// byte for two steps, and some hundred bytes a rank. Throws std::invalid_argument for a bad model or network,
/// deadlock, naming ranks and steps, when nothing more can happen and steps remain.
simulation simulate(const workload& all, const machine_model& model, const network* links = nullptr,
                    observer* to = nullptr);

/// When every rank has finished; nothing, and less work, where that is later than `latest`.
std::optional<double> completion_by(double latest, const workload& all, const machine_model& model,
                                    const network* links = nullptr);

}  // namespace weft::simulator
