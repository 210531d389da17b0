// SPDX-License-Identifier: Apache-2.0
// What has become of every step of a job: half a byte each.
#pragma once

#include <cstdint>
#include <vector>
#include <weft/simulator/workload.hpp>

namespace weft::simulator {

class step_states {
 public:
  enum flag : std::uint8_t {
    begun = 1,
    met = 2,      ///< of a receive: the message, or its request, is there; of a send: the grant is
    waiting = 4,  ///< a send, for its grant
    done = 8,
  };

  explicit step_states(const workload& all) : all_(all), flags_((all.steps() + 1) / 2) {}

  bool is(int rank, step_index step, flag which) const {
    const std::uint64_t number = all_.number(rank, step);
    return (flags_[number / 2] >> (number % 2 * 4) & which) != 0;
  }
  void set(int rank, step_index step, flag which) {
    const std::uint64_t number = all_.number(rank, step);
    flags_[number / 2] = static_cast<std::uint8_t>(flags_[number / 2] | which << (number % 2 * 4));
  }

 private:
  const workload& all_;
  std::vector<std::uint8_t> flags_;
};

}  // namespace weft::simulator
