// SPDX-License-Identifier: Apache-2.0
// How processes agree on the times of a trial.
#pragma once

#include <weft/choice/trial_times.hpp>
#include <weft/request/leader_call.hpp>

namespace weft::detail {

/// The call by which processes do, behind the latest call of the trial: of its number, and told by what that called.
inline leader_call times_call(const slowest_times& times, const leader_call& latest) {
  leader_call all;
  all.what = times.call.what;
  all.of = &times.call;
  all.count = times.seconds.size();
  all.in = static_cast<const std::byte*>(times.call.in);
  all.out = static_cast<std::byte*>(times.call.out);
  all.sequence = latest.sequence;
  all.fingerprint = latest.fingerprint;
  return all;
}

}  // namespace weft::detail
