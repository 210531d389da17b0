// SPDX-License-Identifier: Apache-2.0
// Whoever waits long for a rank asks whether that will ever come.
//
// The rank that is asked may call another collective (engine_agreement.cpp), or the same with other counts: where ranks
// know only their own, one may wait for a grant of a long message and the other one for a short message. Or it has left
// the communicator, or never got it, or its process is about to end: then it says so, behind all that it has sent, and
// what still waits for it has waited in vain. So nobody who leaves has to tell anybody, and who leaves once its part is
// done disturbs nobody.
//
//   who waits   --inquiry-->           room:  of another call, or length -> the communicator fails
//               <--left (messages)--          none any more
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>
#include <weft/runtime/error.hpp>

#include "engine.hpp"

namespace weft::fabric {
namespace {

// An operation found waiting in 2, 4, 8, 16, 24, ... looks so far apart is asked about: sooner once a process is lost,
// since others leave in the middle of something then.
constexpr std::chrono::milliseconds between_looks{500};
constexpr std::chrono::milliseconds between_looks_after_loss{10};

/// From there on it is asked about after half as many.
constexpr std::uint8_t most_looks = 16;

/// Whether it is to be asked about, once it has been found waiting once more.
bool is_due(std::uint8_t& looks) noexcept {
  if (++looks > most_looks) looks = most_looks / 2 + 1;
  return looks > 1 && (looks & (looks - 1)) == 0;
}

std::uint64_t offered_by(const group& members, int rank) noexcept {
  return members.offered.empty() ? 0 : members.offered[static_cast<std::size_t>(rank)];
}

}  // namespace

std::optional<probed_message> engine::probe(participant& member, int source, std::uint64_t tag, bool set_aside) {
  if (member.failure != nullptr) std::rethrow_exception(member.failure);
  auto& latest = member.probed;
  mailbox& messages = member.here->messages;
  const unexpected_message* const found =
      set_aside ? messages.set_aside(source, tag) : messages.find_unexpected(source, tag);
  if (found != nullptr) {
    latest = {};
    return probed_message{found->source, found->tag, found->bytes, found->aside};
  }
  const bool is_gone = latest.failure != nullptr && (source == latest.gone || (source == any_peer && knows_loss()));
  if (is_gone) std::rethrow_exception(std::exchange(latest, {}).failure);
  latest.source = source;
  latest.waits = any_probes_ = true;
  return std::nullopt;
}

void engine::inquire_now_and_then() {
  const auto now = settings_.time->now();
  if (now - last_inquiry_ < (first_lost_ < 0 ? between_looks : between_looks_after_loss)) return;
  last_inquiry_ = now;
  any_probes_ = false;
  std::vector<operation*> waiting;
  std::vector<participant*> probing;
  rooms_.for_each_member([&](participant& member) {
    for (operation& each : member.active)
      if (is_unanswered(each) && is_due(each.inquiries)) waiting.push_back(&each);
    if (std::exchange(member.probed.waits, false) && is_due(member.probed.inquiries)) probing.push_back(&member);
  });
  // What a process has not taken yet goes first: else inquiries could keep all messages from it, where they are due
  // faster than it takes them.
  if (!waiting.empty() || !probing.empty())
    for (const auto& each : flow_.peers()) each->may_be_asked = each->control.empty() && each->messages.empty();
  // An answer may break a communicator, which ends its operations; they stay where they are until finish_ended.
  for (operation* each : waiting)
    if (each->now != operation::stage::ended) inquire(*each->at, each->peer, each);
  for (participant* each : probing)
    if (each->failure == nullptr) inquire(*each, each->probed.source, nullptr);
  agreements_.remind(is_due);
}

/// Whether nothing has come yet for it of the rank that it waits for.
bool engine::is_unanswered(const operation& each) noexcept {
  if (each.ahead) return false;
  switch (each.now) {
    case operation::stage::posted:
    case operation::stage::waiting_at_home:
      return true;
    case operation::stage::landing: {
      const auto& arriving = *static_cast<const landing*>(each.transfer_state);
      return !arriving.active && !arriving.withdrawing;
    }
    case operation::stage::waiting_for_grant:
      return each.transfer_state == nullptr || static_cast<const departure*>(each.transfer_state)->remote_id == 0;
    default:
      return false;
  }
}

/// `about`: of what; null: a probe.
void engine::inquire(participant& member, int rank, operation* about) {
  if (rank != any_peer) return inquire_of(member, rank, about);
  if (first_lost_ < 0) return;  // any of the others may still send
  for (int each = 0; each < member.members->size() && member.failure == nullptr; ++each)
    if (each != member.rank && (about == nullptr || is_unanswered(*about))) inquire_of(member, each, about);
}

void engine::inquire_of(participant& member, int rank, operation* about) {
  const group& members = *member.members;
  const bool collective = about != nullptr && about->collective;
  const int process = members.process[static_cast<std::size_t>(rank)];
  const room_key key = key_of(members, rank);
  const inquiry_body body{key_of(members, member.rank).rank, 0, offered_by(members, rank)};
  const space where = collective ? space::collective : space::message;
  if (process == settings_.process) {
    const auto gone = rooms_.absence_of(key, body.offered);
    if (gone && gone->includes(where, about != nullptr ? about->tag : 0)) return miss(member, rank, *gone);
    if (collective) disagrees(*rooms_.find(key), about->tag, about->fingerprint, member.rank);
    return;
  }
  peer& to = flow_.to(process);
  if (!to.may_be_asked) return;
  header h;
  h.kind = message_kind::inquiry;
  h.matching = where;
  h.communicator = members.communicator;
  h.source = member.rank;
  h.destination = key.rank;
  if (collective) {
    h.tag = about->tag;
    h.detail = about->fingerprint;
    if (about->is_send) h.length = about->bytes;
  }
  flow_.send_control(to, h, reinterpret_cast<const std::byte*>(&body), sizeof body);
}

void engine::take_inquiry(peer& from, const header& h, std::span<const std::byte> body) {
  if (body.size() < sizeof(inquiry_body)) return troubles_.suspect(from, "it sent an inquiry that is cut short");
  const auto asked = read_part<inquiry_body>(body, 0);
  const room_key key{h.communicator, h.destination};
  const auto gone = rooms_.absence_of(key, asked.offered);
  if (!gone || !gone->includes(h.matching, h.tag)) {
    if (h.matching == space::collective) compare_with_sent(from, *rooms_.find(key), h);
    return;
  }
  if (rooms_.has_failed_for_all(key)) return;  // they are told why
  header answer;
  answer.kind = message_kind::left;
  answer.matching = gone->since ? space::collective : space::message;
  answer.tag = gone->since.value_or(0);
  answer.communicator = h.communicator;
  answer.source = h.destination;
  answer.destination = asked.asker;
  answer.length = static_cast<std::uint64_t>(first_lost_ + 1);
  flow_.send_queued(from, answer, {});
}

/// What the rank here does in that collective is what the other one, which waits in it, takes it for.
void engine::compare_with_sent(peer& from, room& here, const header& h) {
  if (disagrees(here, h.tag, h.detail, h.source) || h.length == 0) return;
  if (here.owner == nullptr || here.owner->failure != nullptr) return;
  if (!speaks_for(from.process, here, h.source)) return suspect_of_lie(from.process, h.source);
  const receive_operation* const its = here.messages.find_collective_posted(h.source, h.tag);
  if (its != nullptr && its->bytes != h.length) report_mismatch(*here.owner, its->fingerprint, h.source, h.detail);
}

void engine::take_left(peer& from, const header& h) {
  note_lost(static_cast<std::int64_t>(h.length) - 1);
  room* const here = rooms_.find({h.communicator, h.destination});
  if (here == nullptr || here->owner == nullptr || here->owner->failure != nullptr) return;
  const auto& world = here->owner->members->world;
  const auto its = std::ranges::find(world, h.source);
  const auto rank = static_cast<int>(its - world.begin());
  if (!speaks_for(from.process, *here, rank)) return suspect_of_lie(from.process, rank);
  absence gone;
  if (h.matching == space::collective) gone.since = static_cast<std::uint32_t>(h.tag);
  miss(*here->owner, rank, gone);
}

/// What the rank still waits for of that from `rank` ends.
void engine::miss(participant& member, int rank, const absence& gone) {
  const std::exception_ptr why = left_error(member, rank);
  const auto waits_in_vain = [&](const operation& each) {
    // Who waits for anybody: the others may still send. After a loss nobody knows whether they will.
    const bool is_of_it = each.peer == rank || (each.peer == any_peer && knows_loss());
    const space where = each.collective ? space::collective : space::message;
    return is_of_it && is_unanswered(each) && gone.includes(where, each.tag);
  };
  // One at a time: to end one may end others.
  for (auto each = member.active.begin(); member.failure == nullptr;) {
    each = std::find_if(member.active.begin(), member.active.end(), waits_in_vain);
    if (each == member.active.end()) break;
    cancel(*each, why);
  }
  if (gone.since) return;
  member.probed.failure = why;
  member.probed.gone = rank;
}

void engine::note_lost(std::int64_t rank) noexcept {
  if (first_lost_ >= 0 || rank < 0 || rank > INT32_MAX) return;
  first_lost_ = static_cast<std::int32_t>(rank);
  rooms_.for_each_member([](participant& member) {  // all are soon asked about
    member.probed.inquiries = 0;
    for (operation& each : member.active) each.inquiries = 0;
  });
}

std::exception_ptr engine::left_error(const participant& member, int rank) const {
  const std::string left = "rank " + std::to_string(rank) + " has left communicator " +
                           std::to_string(member.members->communicator) + ", where rank " +
                           std::to_string(member.rank) + " waits for it";
  if (first_lost_ < 0) return std::make_exception_ptr(error(errc::mismatched_call, left));
  return std::make_exception_ptr(
      peer_lost(first_lost_, left + ", after rank " + std::to_string(first_lost_) + " of the world was lost"));
}

}  // namespace weft::fabric
