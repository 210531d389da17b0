// The ranks of this process: who joins, who leaves, and what waits for each.
#include <algorithm>
#include <weft/runtime/error.hpp>

#include "engine.hpp"

namespace weft::fabric {

void engine::join(participant& member) {
  const auto& members = *member.members;
  const room_key key = key_of(members, member.rank);
  room* const found = find_room(key);
  if (found == nullptr)
    throw error(errc::invalid_argument, "weft: a rank joins communicator " + std::to_string(members.communicator) +
                                            ", which it has left, after a later one of the same leader or before");
  history_.join(key);
  room& here = *found;
  here.owner = &member;
  member.here = &here;
  if (const auto* failure = history_.failure_of(members.communicator)) member.failure = *failure;
  if (std::ranges::any_of(peers_, [](const auto& each) { return each->lost; })) {
    for (const std::int32_t process : members.process)
      if (member.failure == nullptr && peers_[static_cast<std::size_t>(process)]->lost)
        member.failure = lost_error(process);
  }
  if (member.failure != nullptr && member.told != nullptr) member.told->failed();
}

void engine::leave(participant& member) {
  const room_key key = key_of(*member.members, member.rank);
  room& here = *member.here;
  while (auto message = here.messages.take_any_unexpected()) {
    note_stored(message->process, -static_cast<std::ptrdiff_t>(message->cost()));
    if (message->at_home != nullptr)
      end(*message->at_home);  // nobody will ever take it
    else if (message->announced)
      answer_dropped(message->process, message->sender_name);
    messages_.keep(std::move(message));
  }
  const bool alone = member.failure == nullptr || member.failed_alone;
  if (!alone) history_.leave_failed(key);
  drop_early_grants(here, alone);
  rooms_.erase(key);
  last_room_ = nullptr;
  member.here = nullptr;
}

void engine::reserve(participant& member, std::span<const std::size_t> lengths) {
  room& here = *member.here;
  here.reserve(here.reserved + lengths.size());
  std::size_t made = 0;
  try {
    for (; made < lengths.size(); ++made) messages_.reserve(lengths[made] <= settings_.eager_limit ? lengths[made] : 0);
  } catch (...) {
    for (; made > 0; --made) messages_.release(lengths[made - 1] <= settings_.eager_limit ? lengths[made - 1] : 0);
    throw;
  }
  here.reserved += lengths.size();
}

void engine::release(participant& member, std::span<const std::size_t> lengths) noexcept {
  for (const std::size_t length : lengths) messages_.release(length <= settings_.eager_limit ? length : 0);
  member.here->reserved -= lengths.size();
}

room* engine::find_room(const room_key& key) {
  if (last_room_ != nullptr && last_key_ == key) return last_room_;
  auto found = rooms_.find(key);
  if (found == rooms_.end()) {
    if (history_.has_passed(key)) return nullptr;
    found = rooms_.emplace(key, std::make_unique<room>()).first;
  }
  last_key_ = key;
  last_room_ = found->second.get();
  return last_room_;
}

}  // namespace weft::fabric
