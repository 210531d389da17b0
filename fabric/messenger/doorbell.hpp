// SPDX-License-Identifier: Apache-2.0
// Wakes those who may sleep (doorbell.cpp says when).
#pragma once

#include <weft/fabric/messenger_settings.hpp>

#include "peer.hpp"

namespace weft::fabric {

class doorbell {
 public:
  /// `settings` outlive this.
  explicit doorbell(const messenger_settings& settings) noexcept
      : settings_(settings), by_machine_(settings.time == &steady_clock_source()) {}

  /// Whether this process can ring for others, and hears their rings.
  bool works() const noexcept { return settings_.ring != nullptr && settings_.listen != nullptr; }
  /// The peer has been sent something: it is rung for if it may sleep.
  void sent(peer& to) noexcept {
    if (settings_.ring) ring_after_silence(to);
  }
  void listen() noexcept {
    if (settings_.listen) settings_.listen();
  }

 private:
  void ring_after_silence(peer& to) noexcept;
  std::int64_t milliseconds() const noexcept;

  const messenger_settings& settings_;
  const bool by_machine_;  // the time is the machine's, of which a coarse look is cheap
};

}  // namespace weft::fabric
