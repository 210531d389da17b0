// SPDX-License-Identifier: Apache-2.0
// What waits for the ranks of this process.
#pragma once

#include <weft/fabric/mailbox.hpp>
#include <weft/fabric/participant.hpp>

#include "communicator_history.hpp"
#include "payload.hpp"
#include "planned_needs.hpp"

namespace weft::fabric {

/// What waits for one rank of one communicator. It comes to be with the first message for it, which may be earlier than
/// the rank's own `messenger::join`.
struct room {
  mailbox messages;
  fifo_index<operation, &operation::queued> waiting_sends;  ///< collective sends that have no grant yet
  fifo_index<departure, &departure::early> early_grants;    ///< collective grants whose send has not begun
  participant* owner = nullptr;
  planned_waits planned;  ///< of plans of the owner

  /// From now on as many collective messages may wait at a time without an allocation. Throws std::bad_alloc.
  void reserve(const planned_waits& all) {
    messages.reserve(all.receives);
    waiting_sends.reserve(all.sends);
    early_grants.reserve(all.sends);
  }
};

inline room_key key_of(const group& members, std::int32_t rank) {
  return {members.communicator, members.world[static_cast<std::size_t>(rank)]};
}

}  // namespace weft::fabric
