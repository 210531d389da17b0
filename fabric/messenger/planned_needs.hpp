// SPDX-License-Identifier: Apache-2.0
// What runs of plans need at a time.
#pragma once

#include <cstddef>

#include "transfer_slots.hpp"

namespace weft::fabric {

/// Those that may wait for each other.
struct planned_waits {
  std::size_t receives = 0, sends = 0;
};

struct planned_needs : planned_waits {
  std::size_t frames = 0;  ///< that may wait to be sent
  std::size_t departures = 0, landings = 0;
  transfer_slots::counts slots{};

  void add(const planned_needs& more) noexcept {
    each_with(more, [](std::size_t& mine, std::size_t its) { mine += its; });
  }
  void subtract(const planned_needs& less) noexcept {
    each_with(less, [](std::size_t& mine, std::size_t its) { mine -= its; });
  }

 private:
  template <class Function>
  void each_with(const planned_needs& other, Function&& function) noexcept {
    function(receives, other.receives);
    function(sends, other.sends);
    function(frames, other.frames);
    function(departures, other.departures);
    function(landings, other.landings);
    for (std::size_t i = 0; i < slots.size(); ++i) function(slots[i], other.slots[i]);
  }
};

}  // namespace weft::fabric
