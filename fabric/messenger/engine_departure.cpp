// SPDX-License-Identifier: Apache-2.0
// Long messages: granted, in pieces.
//
//   sender                                receiver
//   departure --envelope (messages)-->    match, or a collective's start
//             <--grant (2 pieces)-----    landing: memory posted for two pieces
//             ---piece--->                landed: the next is posted
//             <--grant (1 more)-------    ...
//
// Where payloads to a peer pass in turn (transport_limits::in_turn) the provider has one long piece of them at a time,
// or several short ones, and the message that began to leave first goes first: a provider that had the first pieces of
// all messages would send those before the third piece of the first one, for which others may wait.
//
// At most two pieces of a message are on the way by each link, and at most a window of pieces from one peer. Long
// pieces cost least (over net, pieces of 128 KiB take up to a third longer than pieces of 512 KiB); but while short
// messages pass between the same two processes pieces are short, since each such message waits for those before it. A
// collective's first pieces are granted before its sender is ready and count against no window: otherwise one that is
// late could keep up messages that it waits for itself.
//
// Only a part of what a provider lets us post is for those: what waits for senders that are not ready must leave room
// for senders that are, which the former may be waiting for. Beyond that part the first grant is of no bytes, and the
// sender says when it is ready:
//
//   sender    <--grant of 0--             receiver, as the collective starts
//             ---ready-->                 memory posted, as for a message that was announced
#include <algorithm>
#include <iterator>
#include <weft/runtime/error.hpp>

#include "engine.hpp"

namespace weft::fabric {

void engine::remove(departure& gone) noexcept {
  if (gone.early_in != nullptr) gone.early_in->early_grants.erase(gone.early_key, gone);
  if (gone.blocked.is_linked()) blocked_departures_.erase(blocked_departures_.iterator_to(gone));
  if (gone.next.is_linked()) flow_.to(gone.process).next.erase(flow_.to(gone.process).next.iterator_to(gone));
  if (gone.granted.is_linked()) granted_.erase({gone.process, gone.remote_id}, gone);
  if (gone.in_flight != 0) slots_.disown(&gone);
  if (gone.kept != nullptr) flow_.note_left(gone.bytes);
  gone.kept.reset();
  departures_.remove(gone);
}

std::size_t engine::next_departing(const departure& leaving) noexcept {
  const granted_range& granted = leaving.grants[0];
  return std::min<std::size_t>(granted.piece, granted.end - leaving.sent);
}

bool engine::may_leave(const peer& to, const departure& leaving, std::size_t bytes) const noexcept {
  if (!network_->limits().in_turn || to.road != message_counts::network || to.departing == 0) return true;
  const bool is_next = to.next.empty() || leaving.turn <= to.next.front().turn;
  return is_next && to.departing + bytes <= settings_.piece;
}

void engine::wait_for_turn(peer& to, departure& leaving) noexcept {
  auto place = to.next.end();
  while (place != to.next.begin() && leaving.turn < std::prev(place)->turn) --place;
  to.next.insert(place, leaving);
}

/// Those whose turn it is.
void engine::pump_next(peer& to) {
  while (!to.next.empty()) {
    departure& first = to.next.front();
    if (!first.stopped && !may_leave(to, first, next_departing(first))) return;
    to.next.pop_front();
    pump(first);
  }
}

void engine::pump(departure& leaving) {
  peer& to = flow_.to(leaving.process);
  if (leaving.turn == 0) leaving.turn = ++to.turns;
  if (leaving.next.is_linked()) to.next.erase(to.next.iterator_to(leaving));
  while (!leaving.stopped && leaving.grant_count != 0) {
    const granted_range& granted = leaving.grants[0];
    const std::size_t bytes = next_departing(leaving);
    if (!may_leave(to, leaving, bytes)) return wait_for_turn(to, leaving);
    bool there_was_memory = false;
    const auto send = [&](transfer_slot& slot) {
      there_was_memory = true;
      slot.bytes = bytes;
      return network_->send_payload(leaving.process, piece_tag(leaving.remote_id, leaving.pieces),
                                    {leaving.data + leaving.sent, bytes}, slot);
    };
    const bool posted = flow_.post_transfer(transfer_slot::purpose::departure, &leaving, to.process, 0, send);
    if (!flow_.taken(to, posted, there_was_memory)) {
      if (!leaving.blocked.is_linked()) blocked_departures_.push_back(leaving);
      return;
    }
    to.departing += bytes;
    leaving.sent += bytes;
    ++leaving.pieces;
    ++leaving.in_flight;
    if (leaving.sent != granted.end) continue;
    std::shift_left(leaving.grants.begin(), leaving.grants.end(), 1);
    --leaving.grant_count;
  }
}

bool engine::add_grant(departure& leaving, const grant_body& grant) noexcept {
  if (grant.granted == 0) return leaving.grant_count == 0 && leaving.early_in != nullptr;
  const std::size_t before = leaving.grant_count == 0 ? leaving.sent : leaving.grants[leaving.grant_count - 1].end;
  if (grant.piece == 0 || grant.granted <= before || grant.granted > leaving.bytes ||
      leaving.grant_count == leaving.grants.size())
    return false;
  leaving.grants[leaving.grant_count++] = {grant.granted, grant.piece};
  return true;
}

void engine::take_grant(peer& from, const header& h, std::span<const std::byte> body) {
  if (body.size() < sizeof(grant_body)) return troubles_.suspect(from, "it sent a grant that is cut short");
  const auto grant = read_part<grant_body>(body, 0);
  if (grant.id == 0) return troubles_.suspect(from, "it granted a message without a name for it");
  if (departure* const known = granted(from, grant.id)) {
    if (!add_grant(*known, grant)) return troubles_.suspect(from, "it sent a grant that grants nothing, or too much");
    if (known->early_in == nullptr) pump(*known);  // else its send has not begun
    return;
  }
  departure* leaving = nullptr;
  if (grant.sender_name != 0) {
    leaving = departures_.find(static_cast<std::uint32_t>(grant.sender_name));
    if (leaving != nullptr && leaving->process != from.process) leaving = nullptr;
    if (leaving == nullptr || leaving->stopped) {
      if (leaving != nullptr) remove(*leaving);
      return answer_withdrawn(from, grant.id, 0, rooms_.why_stopped({h.communicator, h.source}));
    }
    if (leaving->granted.is_linked()) return troubles_.suspect(from, "it granted one message by two names");
  } else {
    room* const here = rooms_.find({h.communicator, h.source});
    if (here != nullptr && !speaks_for(from.process, *here, h.destination))
      return suspect_of_lie(from.process, h.destination);
    if (here == nullptr || (here->owner != nullptr && here->owner->failure != nullptr))
      return answer_withdrawn(from, grant.id, 0, rooms_.why_stopped({h.communicator, h.source}));
    if (disagrees(*here, h.tag, h.detail, h.destination))
      return answer_withdrawn(from, grant.id, 0, rooms_.why_stopped({h.communicator, h.source}));
    leaving = &depart(departures_, from.process, h.length);
    leaving->fingerprint = h.detail;
    leaving->early_key = {h.destination, h.tag};
    here->early_grants.push(leaving->early_key, *leaving);
    leaving->early_in = here;
  }
  leaving->remote_id = grant.id;
  if (!add_grant(*leaving, grant)) return troubles_.suspect(from, "it sent a grant that grants nothing, or too much");
  granted_.push({from.process, grant.id}, *leaving);
  if (leaving->early_in == nullptr) {
    if (leaving->operation != nullptr) leaving->operation->now = operation::stage::departing;
    return pump(*leaving);
  }
  if (operation* send = leaving->early_in->waiting_sends.front(leaving->early_key)) {
    leaving->early_in->waiting_sends.erase(leaving->early_key, *send);
    attach(*leaving, static_cast<send_operation&>(*send));
  }
}

void engine::begin_collective_departure(send_operation& send, room& from) {
  const match_key key{send.peer, send.tag};
  if (departure* granted = from.early_grants.front(key)) {
    if (speaks_for(granted->process, from, send.peer)) return attach(*granted, send);
    suspect_of_lie(granted->process, send.peer);  // it came before this rank had joined
  }
  from.waiting_sends.push(key, send);
  send.now = operation::stage::waiting_for_grant;
}

void engine::attach(departure& granted, send_operation& send) {
  granted.early_in->early_grants.erase(granted.early_key, granted);
  granted.early_in = nullptr;
  granted.operation = &send;
  granted.data = send.data;
  send.now = operation::stage::departing;
  send.transfer_state = &granted;
  if (granted.fingerprint != send.fingerprint || granted.bytes != send.bytes)
    return report_mismatch(*send.at, send.fingerprint, send.peer, granted.fingerprint);
  if (send.poisoned != nullptr) return answer_poisoned(granted);
  if (granted.grant_count == 0) {
    header h = flow_.head_for(message_kind::ready, send);
    h.detail = granted.remote_id;
    return flow_.send_control(flow_.to(granted.process), h);
  }
  pump(granted);
}

void engine::piece_departed(departure& leaving, bool failed) {
  --leaving.in_flight;
  if (failed) leaving.stopped = true;  // and its receiver is being lost
  if (leaving.stopped) return settle(leaving);
  if (leaving.sent < leaving.bytes || leaving.in_flight != 0) return;
  if (leaving.operation != nullptr) operations_.end(*leaving.operation);
  remove(leaving);
}

void engine::settle(departure& stopped) {
  if (stopped.in_flight != 0) return;
  if (send_operation* const send = stopped.operation) {
    const std::exception_ptr why = send->at->failure != nullptr ? send->at->failure : send->failure;
    if (why != nullptr) {
      fail(*send, why);
      stopped.operation = nullptr;
    } else if (stopped.refused) {
      end_refused(*send);
      stopped.operation = nullptr;
    }
  }
  // Who has been sent all of it does not ask.
  const bool is_over = stopped.withdrawn || stopped.sent == stopped.bytes;
  if (is_over && stopped.operation == nullptr) remove(stopped);
}

/// Its receiver takes part no more, or had no memory: a message ends as a short one to that rank would have.
void engine::end_refused(send_operation& send) {
  if (!send.collective) return operations_.end(send);
  fail(send,
       std::make_exception_ptr(error(errc::operation_failed, "rank " + std::to_string(send.peer) + " of communicator " +
                                                                 std::to_string(send.at->members->communicator) +
                                                                 " gave up the message that it was receiving")));
}

void engine::take_refusal(const header& h) {
  departure* leaving = departures_.find(static_cast<std::uint32_t>(h.detail));
  if (leaving == nullptr || leaving->process != static_cast<int>(h.process) || leaving->remote_id != 0) return;
  if (send_operation* send = leaving->operation)
    fail(*send, std::make_exception_ptr(error(
                    errc::truncated,
                    "send on rank " + std::to_string(send->at->rank) + " to rank " + std::to_string(send->peer) +
                        " of communicator " + std::to_string(send->at->members->communicator) + ": the message has " +
                        std::to_string(send->bytes) + " bytes, the receiver's buffer " + std::to_string(h.length))));
  remove(*leaving);
}

void engine::answer_withdrawn(peer& to, std::uint32_t id, std::uint64_t sent, stopped why) {
  header h;
  h.kind = message_kind::withdrawn;
  h.source = static_cast<std::int32_t>(why);
  if (why == stopped::left) h.tag = static_cast<std::uint64_t>(first_lost_ + 1);
  h.detail = id;
  h.length = sent;
  flow_.send_control(to, h);
}

void engine::take_dropped(const header& h) {
  departure* leaving = departures_.find(static_cast<std::uint32_t>(h.detail));
  if (leaving == nullptr || leaving->process != static_cast<int>(h.process) || leaving->remote_id != 0) return;
  if (leaving->operation != nullptr)
    operations_.end(*leaving->operation);  // as a short message to that rank would have
  remove(*leaving);
}

void engine::take_withdrawal(peer& from, const header& h) {
  const auto id = static_cast<std::uint32_t>(h.detail);
  departure* const leaving = granted(from, id);
  if (leaving == nullptr)
    return answer_withdrawn(from, id, ~std::uint64_t{0}, stopped::told);  // all of it has been sent
  answer_withdrawn(from, id, leaving->sent, stopped::told);
  leaving->stopped = leaving->withdrawn = true;
  leaving->refused = h.source == static_cast<std::int32_t>(stopped::alone);
  settle(*leaving);
}

}  // namespace weft::fabric
