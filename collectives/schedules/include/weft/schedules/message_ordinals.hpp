// SPDX-License-Identifier: Apache-2.0
// Numbers messages as schedules do.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <weft/schedules/schedule.hpp>

namespace weft::schedules {

/// The k-th send or notify of one rank to a peer gets ordinal k, and so does the k-th receive or await from it.
class message_ordinals {
 public:
  /// Of the next step of that kind; 0 for copies and combines.
  std::uint32_t next(step_kind kind, std::int32_t peer) {
    switch (kind) {
      case step_kind::send:
      case step_kind::notify:
        return outgoing_[peer]++;
      case step_kind::receive:
      case step_kind::await:
        return incoming_[peer]++;
      case step_kind::copy:
      case step_kind::combine:
        break;
    }
    return 0;
  }

 private:
  std::unordered_map<std::int32_t, std::uint32_t> outgoing_, incoming_;
};

}  // namespace weft::schedules
