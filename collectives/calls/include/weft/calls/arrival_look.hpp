// SPDX-License-Identifier: Apache-2.0
// Calls in which ranks look who of them is late (arrival_watch.hpp).
#pragma once

#include <cstdint>
#include <weft/calls/agreed_times.hpp>
#include <weft/calls/communicator_state.hpp>

namespace weft::detail {

/// A look in a call that blocks: from its begin to its end.
class arrival_look {
 public:
  /// `fingerprint`: of the call.
  arrival_look(communicator_state& state, watched_calls& its, std::uint64_t fingerprint);
  arrival_look(const arrival_look&) = delete;
  arrival_look& operator=(const arrival_look&) = delete;
  /// Blocks until all ranks have come, and has the next calls go by what all have told. Where a rank is lost, so is the
  /// communicator: then nothing changes.
  ~arrival_look();

 private:
  watched_calls& its_;
  const trial_timer timer_;
  const std::shared_ptr<agreed_times> all_;
};

/// A look of a rank that starts the call, and so cannot wait: it tells the others that it knows nothing, whereupon all
/// go on as before.
void look_away(communicator_state& state, std::uint64_t fingerprint);

}  // namespace weft::detail
