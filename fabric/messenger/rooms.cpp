// SPDX-License-Identifier: Apache-2.0
#include "rooms.hpp"

#include <string>
#include <weft/runtime/error.hpp>

namespace weft::fabric {

rooms::~rooms() {
  for (auto& [key, each] : rooms_)
    if (each->owner != nullptr) each->owner->active.clear();
}

room* rooms::find_or_make(const room_key& key) {
  auto found = rooms_.find(key);
  if (found == rooms_.end()) {
    if (history_.has_passed(key)) return nullptr;
    if (history_.is_behind(key)) doubtful_.push_back(key);
    found = rooms_.emplace(key, std::make_unique<room>()).first;
  }
  last_key_ = key;
  last_room_ = found->second.get();
  return last_room_;
}

void rooms::join(participant& member) {
  const auto& members = *member.members;
  const room_key key = key_of(members, member.rank);
  room* const here = find(key);
  if (here == nullptr)
    throw error(errc::invalid_argument, "weft: a rank joins communicator " + std::to_string(members.communicator) +
                                            ", which it has left, after a later one of the same leader or before");
  history_.join(key);
  here->owner = &member;
  member.here = here;
  if (const auto* failure = history_.failure_of(members.communicator)) member.failure = *failure;
}

void rooms::leave(participant& member, bool alone) noexcept {
  const room_key key = key_of(*member.members, member.rank);
  if (!alone) history_.leave_failed(key);
  if (member.next_collective) history_.miss_from(key.communicator, *member.next_collective);
  rooms_.erase(key);
  last_room_ = nullptr;
  member.here = nullptr;
}

stopped rooms::why_stopped(const room_key& key) const {
  const auto found = rooms_.find(key);
  if (found == rooms_.end())
    return history_.has_passed(key) && !history_.has_left_failed(key) ? stopped::left : stopped::told;
  return found->second->owner != nullptr && found->second->owner->failed_alone ? stopped::alone : stopped::told;
}

bool rooms::has_left(const room_key& key) const {
  const auto found = rooms_.find(key);
  return (found == rooms_.end() || found->second->owner == nullptr) && history_.has_passed(key);
}

bool rooms::has_failed_for_all(const room_key& key) const {
  if (history_.has_left_failed(key)) return true;
  const auto found = rooms_.find(key);
  const participant* const its = found != rooms_.end() ? found->second->owner : nullptr;
  return its != nullptr && its->failure != nullptr && !its->failed_alone;
}

std::shared_ptr<const group> rooms::members_of(std::uint64_t communicator) const {
  for (const auto& [key, each] : rooms_)
    if (key.communicator == communicator && each->owner != nullptr) return each->owner->members;
  return nullptr;
}

bool rooms::agrees_no_more(const room_key& key, std::uint64_t offered) const {
  const auto found = rooms_.find(key);
  if (found != rooms_.end() && found->second->owner != nullptr && found->second->owner->agrees_no_more) return true;
  const auto gone = absence_of(key, offered);
  return gone && !gone->since;
}

void rooms::agree_no_more(std::int32_t rank) noexcept {
  for (auto& [key, each] : rooms_)
    if (key.rank == rank && each->owner != nullptr) each->owner->agrees_no_more = true;
}

std::optional<absence> rooms::absence_of(const room_key& key, std::uint64_t offered) const {
  if (retired_but_ && *retired_but_ != key.communicator) return absence{};
  const auto found = rooms_.find(key);
  const bool is_here = found != rooms_.end() && found->second->owner != nullptr;
  if (!is_here && (history_.has_passed(key) || (offered != 0 && has_refused(key.rank, offered)))) return absence{};
  if (const std::uint32_t* const since = history_.missing_since(key.communicator)) return absence{*since};
  return std::nullopt;
}

}  // namespace weft::fabric
