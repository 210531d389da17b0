// SPDX-License-Identifier: Apache-2.0
// A process of a job of this process, of which the inside is seen.
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <weft/calls/communicator_state.hpp>
#include <weft/hierarchy/leaders.hpp>

#include "collectives/process/node_memory.hpp"
#include "run_ranks.hpp"

namespace weft_test {

/// It has one rank.
class open_process {
 public:
  explicit open_process(weft::detail::membership member) : host(std::move(member)) {
    const auto self =
        std::make_shared<weft::detail::rank_identity>(host.first_rank(), std::make_shared<weft::detail::meetings>());
    state = std::make_shared<weft::detail::communicator_state>(host, self, host.everyone(), self->job_rank);
    world.emplace(state);
  }
  ~open_process() {
    if (std::uncaught_exceptions() > exceptions_)
      host.abandon();
    else
      host.leave();
  }
  open_process(const open_process&) = delete;
  open_process& operator=(const open_process&) = delete;

  /// Memory that the others use in place.
  std::span<double> shared(std::size_t count) {
    return {static_cast<double*>(host.memory()->take(count * sizeof(double))), count};
  }
  /// Lets vectors of any length be read from the others' memory that do not lie in a heap.
  void read_always() {
    weft::schedules::board_costs reading;
    for (auto& use : reading.by_use) use.copy.fill(1);
    state->here->between().team()->take(reading);
  }

  weft::detail::process host;
  std::shared_ptr<weft::detail::communicator_state> state;
  std::optional<weft::communicator> world;

 private:
  const int exceptions_ = std::uncaught_exceptions();
};

}  // namespace weft_test
