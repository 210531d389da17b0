// SPDX-License-Identifier: Apache-2.0
// Whether all ranks of a communicator call the same collectives.
//
// Every message of a collective carries its fingerprint, which is compared where it meets this rank's own collective of
// the same number in the sequence: when it arrives, when the collective begins after it, and when it is matched. Where
// both sides only wait, no message meets anything: then an inquiry does (engine_inquiry.cpp).
#include <optional>

#include "engine.hpp"

namespace weft::fabric {
void engine::note_collective(const operation& begun) {
  participant& member = *begun.at;
  const auto sequence = static_cast<std::uint32_t>(begun.tag >> 32);
  if (!member.begun.note(sequence, begun.fingerprint)) return;
  if (const unexpected_message* other = member.here->messages.find_disagreeing(sequence, begun.fingerprint))
    report_mismatch(member, begun.fingerprint, other->source, other->fingerprint);
}

bool engine::disagrees(room& here, std::uint64_t tag, std::uint64_t fingerprint, int source) {
  participant* const member = here.owner;
  if (member == nullptr || member->failure != nullptr) return false;
  const auto sequence = static_cast<std::uint32_t>(tag >> 32);
  const auto begun = member->begun.find(sequence);
  const auto own = begun ? begun : member->silent.find(sequence);
  if (!own || *own == fingerprint) return false;
  report_mismatch(*member, *own, source, fingerprint);
  return true;
}

}  // namespace weft::fabric
