// SPDX-License-Identifier: Apache-2.0
// The ranks of this process: who joins, who leaves, and what plans of theirs reserve.
#include <algorithm>
#include <weft/runtime/error.hpp>

#include "engine.hpp"

namespace weft::fabric {

void engine::join(participant& member) {
  rooms_.join(member);
  try {
    settle_in(member);
  } catch (...) {
    rooms_.leave(member, true);
    throw;
  }
}

/// The member has just joined: what is here for it, and what is known of the others.
void engine::settle_in(participant& member) {
  const auto lies = [&](const unexpected_message& kept) {
    return !speaks_for(kept.process, *member.here, kept.source);
  };
  while (auto message = member.here->messages.take_unexpected_if(lies)) {
    suspect_of_lie(message->process, message->source);
    flow_.note_stored(message->process, -static_cast<std::ptrdiff_t>(message->cost()));
    messages_.keep(std::move(message));
  }
  if (std::ranges::any_of(flow_.peers(), [](const auto& each) { return each->lost; })) {
    for (const std::int32_t process : member.members->process)
      if (member.failure == nullptr && flow_.to(process).lost) member.failure = lost_error(process);
  }
  miss_who_refused(member);
  if (member.failure != nullptr && member.told != nullptr) member.told->failed();
}

void engine::refuse(std::int32_t rank, std::uint64_t offered) {
  rooms_.refuse(rank, offered);
  rooms_.for_each_member([&](participant& member) { miss_who_refused(member); });
  agreements_.look_again();
}

/// Whoever waits for a rank that had left, and might have been about to join instead, is told.
void engine::end_division(std::int32_t rank) {
  rooms_.end_division(rank, [this](room& left) {
    while (auto message = left.messages.take_any_unexpected()) drop(std::move(message));
    drop_early_grants(left, stopped::left);
  });
  agreements_.look_again();
}

/// A rank of this process that did not get the communicator: the member's fails.
void engine::miss_who_refused(participant& member) {
  const group& members = *member.members;
  for (std::size_t r = 0; r < members.offered.size() && member.failure == nullptr; ++r)
    if (members.process[r] == settings_.process && rooms_.has_refused(members.world[r], members.offered[r]))
      break_communicator(member, left_error(member, static_cast<int>(r)));
}

void engine::leave(participant& member) {
  room& here = *member.here;
  while (auto message = here.messages.take_any_unexpected()) drop(std::move(message));
  const bool alone = member.failure == nullptr || member.failed_alone;
  drop_early_grants(here, member.failure == nullptr ? stopped::left : alone ? stopped::alone : stopped::told);
  rooms_.leave(member, alone);
  agreements_.look_again(member.members);
}

planned_needs engine::needs_of(const participant& member, std::span<const planned_message> each_run) const noexcept {
  planned_needs all;
  const auto frames = [&](std::size_t many, std::size_t body) {
    const std::size_t bytes = sizeof(header) + body;
    all.frames += many;
    if (bytes > flow_.inject_limit()) all.slots[transfer_slots::length_class(bytes)] += many;
  };
  for (const planned_message& each : each_run) {
    ++(each.is_send ? all.sends : all.receives);
    const int process = member.members->process[static_cast<std::size_t>(each.peer)];
    if (process == settings_.process) continue;
    const std::size_t pieces = ahead(flow_.to(process));
    const bool is_short = goes_at_once(flow_.to(process), each.bytes, each.vector);
    if (each.is_send) frames(1, is_short ? each.bytes : sizeof(envelope_body));
    if (each.bytes == 0) continue;
    // Short ones may have to be announced, too.
    all.slots[transfer_slots::length_class(0)] += pieces;
    if (each.is_send) {
      all.departures += 2;  // one may be granted for the next run while that of this run ends
    } else {
      ++all.landings;
      frames(pieces, sizeof(grant_body));
    }
  }
  return all;
}

void engine::reserve(participant& member, std::span<const planned_message> each_run) {
  const planned_needs more = needs_of(member, each_run);
  planned_needs all = planned_;
  all.add(more);
  planned_waits here = member.here->planned;
  here.receives += more.receives;
  here.sends += more.sends;
  flow_.frames().reserve(all.frames);
  departures_.reserve(all.departures);
  granted_.reserve(all.departures);
  landings_.reserve(all.landings);
  slots_.reserve(all.slots);
  member.here->reserve(here);
  member.begun.reserve();
  std::size_t made = 0;
  try {
    for (; made < each_run.size(); ++made)
      if (!each_run[made].is_send) reserve_message(room_for(member, each_run[made]));
  } catch (...) {
    release_messages(member, each_run.first(made));
    throw;
  }
  planned_ = all;
  member.here->planned = here;
}

void engine::release(participant& member, std::span<const planned_message> each_run) noexcept {
  const planned_needs less = needs_of(member, each_run);
  release_messages(member, each_run);
  member.here->planned.receives -= less.receives;
  member.here->planned.sends -= less.sends;
  planned_.subtract(less);
  flow_.frames().trim(planned_.frames);
  slots_.trim(planned_.slots);
}

std::size_t engine::room_for(const participant& member, const planned_message& one) const noexcept {
  const int process = member.members->process[static_cast<std::size_t>(one.peer)];
  return goes_at_once(flow_.to(process), one.bytes, one.vector) ? one.bytes : 0;
}

void engine::reserve_message(std::size_t room) {
  messages_.reserve(0);
  try {
    if (room != 0) messages_.reserve(room);
  } catch (...) {
    messages_.release(0);
    throw;
  }
}

void engine::release_message(std::size_t room) noexcept {
  messages_.release(0);
  if (room != 0) messages_.release(room);
}

void engine::release_messages(const participant& member, std::span<const planned_message> of) noexcept {
  for (const planned_message& each : of)
    if (!each.is_send) release_message(room_for(member, each));
}

}  // namespace weft::fabric
