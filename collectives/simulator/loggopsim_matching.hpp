// SPDX-License-Identifier: Apache-2.0
// Which message meets which receive where LogGOPSim's queues say it: in the order in which they come, where they are of
// one sender and tag. Sends and receives that no tags tell apart are written to GOAL with their number for a tag, so
// each has a place of its own.
#pragma once

#include <limits>
#include <optional>
#include <vector>
#include <weft/simulator/workload.hpp>

namespace weft::simulator {

class loggopsim_matching {
 public:
  explicit loggopsim_matching(const workload& all);

  /// A receive begins. The send whose message has come before it, which is taken.
  std::optional<meeting> post(int rank, step_index receive);
  /// The message of a send comes. The receive of its peer that waits for it, which is taken.
  std::optional<step_index> arrive(const meeting& send);

 private:
  static constexpr step_index nothing = std::numeric_limits<step_index>::max();
  /// Receives that wait, or messages: never both.
  struct place {
    step_index first = nothing, last = nothing;
    bool messages = false;
  };

  place& of_receive(int rank, step_index receive);
  place& of_send(const meeting& send);
  step_index take(place& from, int rank);
  void append(place& to, int rank, step_index step, bool messages);

  const workload& all_;
  std::vector<place> places_;      ///< of each receiving channel, or of each receive
  std::vector<step_index> after_;  ///< of each step: what waits behind it
};

}  // namespace weft::simulator
