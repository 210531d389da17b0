// Whether all ranks of a communicator call the same collectives.
//
// Every message of a collective carries its fingerprint, which is compared where it meets this rank's own collective of
// the same number in the sequence: when it arrives, when the collective begins after it, and when it is matched. Where
// both sides only wait, no message meets anything; so a rank that has waited long asks the one that it waits for.
#include <algorithm>
#include <vector>

#include "engine.hpp"

namespace weft::fabric {
namespace {

/// An operation found waiting in two looks so far apart is asked about.
constexpr std::chrono::milliseconds between_looks{500};

}  // namespace

void engine::note_collective(const operation& begun) {
  participant& member = *begun.at;
  const auto sequence = static_cast<std::uint32_t>(begun.tag >> 32);
  participant::begun_collective& slot = member.begun[sequence % member.begun.size()];
  if (slot.valid && slot.sequence == sequence) return;
  slot = {sequence, true, begun.fingerprint};
  if (const unexpected_message* other = member.here->messages.find_disagreeing(sequence, begun.fingerprint))
    report_mismatch(member, begun.fingerprint, other->source, other->fingerprint);
}

bool engine::disagrees(room& here, std::uint64_t tag, std::uint64_t fingerprint, int source) {
  participant* const member = here.owner;
  if (member == nullptr || member->failure != nullptr) return false;
  const auto sequence = static_cast<std::uint32_t>(tag >> 32);
  const participant::begun_collective& slot = member->begun[sequence % member->begun.size()];
  const bool begun = slot.valid && slot.sequence == sequence;
  const auto own = begun ? std::optional(slot.fingerprint) : member->silent.find(sequence);
  if (!own || *own == fingerprint) return false;
  report_mismatch(*member, *own, source, fingerprint);
  return true;
}

void engine::inquire_now_and_then() {
  const auto now = steady_clock_source().now();
  if (now - last_inquiry_ < between_looks) return;
  last_inquiry_ = now;
  std::vector<operation*> waiting;
  rooms_.for_each_member([&](participant& member) {
    for (operation& active : member.active)
      if (active.collective && active.inquiries < 2 && ++active.inquiries == 2) waiting.push_back(&active);
  });
  // An answer may break a communicator, which ends its operations; they stay where they are until finish_ended.
  for (const operation* each : waiting)
    if (each->now != operation::stage::ended) inquire_about(*each);
}

void engine::inquire_about(const operation& waiting) {
  const auto& members = *waiting.at->members;
  const int process = members.process[static_cast<std::size_t>(waiting.peer)];
  if (process == settings_.process) {
    if (room* const there = rooms_.find(key_of(members, waiting.peer)))
      disagrees(*there, waiting.tag, waiting.fingerprint, waiting.at->rank);
    return;
  }
  header h = flow_.head_for(message_kind::inquiry, waiting);
  flow_.send_control(flow_.to(process), h);
}

}  // namespace weft::fabric
