// SPDX-License-Identifier: Apache-2.0
// What comes from the transport.
#include <cstring>
#include <new>
#include <string>
#include <weft/runtime/error.hpp>

#include "engine.hpp"

namespace weft::fabric {
namespace {

/// What `make` returns; nothing where there is no memory for it.
template <class Make>
std::string text_of(Make make) noexcept {
  try {
    return make();
  } catch (const std::bad_alloc&) {
    return {};
  }
}

}  // namespace

bool engine::is_ours(const header& h) const noexcept {
  return h.version == wire_version && h.job == settings_.job && h.process < flow_.peers().size() &&
         h.process != static_cast<std::uint32_t>(settings_.process) &&
         h.incarnation == settings_.incarnations[h.process];
}

/// Of a communicator that nobody here has joined yet nothing is known: `join` looks again.
bool engine::speaks_for(int process, const room& there, int rank) const noexcept {
  if (there.owner == nullptr) return true;
  const auto& processes = there.owner->members->process;
  const auto index = static_cast<std::size_t>(rank);
  return index < processes.size() && processes[index] == process;
}

void engine::suspect_of_lie(int process, int rank) {
  troubles_.suspect(flow_.to(process), "it spoke for rank " + std::to_string(rank) + ", which is not there");
}

void engine::arrived(std::span<const std::byte> frame) {
  if (frame.size() < sizeof(header)) return;
  const auto h = read_part<header>(frame, 0);
  if (!is_ours(h)) return;
  peer& from = *flow_.peers()[h.process];
  if (from.lost || from.suspected || flow_.gives_up()) return;
  if (h.sequence != from.taken_frames)
    return troubles_.suspect(from, text_of([&] {
                               return "frame " + std::to_string(from.taken_frames) +
                                      " of its connection is missing (frame " + std::to_string(h.sequence) + " came)";
                             }));
  ++from.taken_frames;
  from.unheard = false;
  flow_.take_credit(from, h);
  if (flow_.costs_credit(h)) flow_.owe_credit(from, frame.size());
  take_or_fail(from, h, frame.subspan(sizeof(header)));
}

void engine::take_or_fail(peer& from, const header& h, std::span<const std::byte> body) noexcept {
  try {
    take(from, h, body);
  } catch (...) {
    frame_failed(from, h, body);
  }
}

void engine::take_several(peer& from, std::span<const std::byte> frames) {
  while (!frames.empty() && !from.lost && !from.suspected && !flow_.gives_up()) {
    const std::size_t size = frames.size() < 4 ? 0 : read_part<std::uint32_t>(frames, 0);
    if (size < sizeof(header) || size > frames.size() - 4)
      return troubles_.suspect(from, "it sent several frames as one of which one is cut short");
    const auto frame = frames.subspan(4, size);
    auto h = read_part<header>(frame, 0);
    h.process = static_cast<std::uint32_t>(from.process);
    if (h.kind == message_kind::several) return troubles_.suspect(from, "it sent several frames within several");
    take_or_fail(from, h, frame.subspan(sizeof(header)));
    frames = frames.subspan(4 + size);
  }
}

[[gnu::flatten]] void engine::arrived(int peer, message_name name, message_ends ends,
                                      std::span<const std::byte> bytes) {
  fabric::peer& from = flow_.to(peer);
  if (from.lost || from.suspected || flow_.gives_up()) return;
  flow_.owe_credit(from, sizeof name + sizeof ends + bytes.size());
  try {
    room* const there = rooms_.find({name.communicator, ends.destination});
    if (there == nullptr || troubles_.owes_break(name.communicator)) return;
    take_short(from, *there, ends.source, name.tag, bytes);
  } catch (...) {
    troubles_.owe_break(name.communicator, std::current_exception());
  }
}

void engine::take(peer& from, const header& h, std::span<const std::byte> body) {
  switch (h.kind) {
    case message_kind::hello:
      return flow_.take_hello(from, h);
    case message_kind::eager:
      return take_eager(from, h, body);
    case message_kind::envelope:
      return take_envelope(from, h, body);
    case message_kind::grant:
      return take_grant(from, h, body);
    case message_kind::ready:
      return take_ready(from, h);
    case message_kind::refuse:
      return take_refusal(h);
    case message_kind::withdraw:
      return take_withdrawal(from, h);
    case message_kind::withdrawn:
      return take_withdrawn(from, h, body);
    case message_kind::inquiry:
      return take_inquiry(from, h, body);
    case message_kind::left:
      return take_left(from, h);
    case message_kind::consensus:
      return agreements_.take(from, h, body);
    case message_kind::poisoned:
      return take_poisoned(from, h, body);
    case message_kind::dropped:
      return take_dropped(h);
    case message_kind::several:
      return take_several(from, body);
    case message_kind::credit:
      from.envelopes_only = h.source != 0;
      return flow_.want_flush(from);
  }
  troubles_.suspect(from, "it sent a frame of unknown kind " + std::to_string(static_cast<int>(h.kind)));
}

void engine::take_eager(peer& from, const header& h, std::span<const std::byte> body) {
  room* const there = rooms_.find({h.communicator, h.destination});
  if (there == nullptr || troubles_.owes_break(h.communicator)) return;
  if (h.matching == space::message) return take_short(from, *there, h.source, h.tag, body);
  if (!speaks_for(from.process, *there, h.source)) return suspect_of_lie(from.process, h.source);
  from.note_short_message();
  if (disagrees(*there, h.tag, h.detail, h.source)) return;
  if (receive_operation* receive = there->messages.take_posted(h.source, h.tag, true)) {
    if (!agrees(*receive, h.source, h.detail)) return;
    if (fits(*receive, h.source, body.size())) deliver(*receive, h.source, h.tag, body.data(), body.size());
    return;
  }
  store(from, *there, {.source = h.source, .tag = h.tag, .collective = true, .fingerprint = h.detail}, body);
}

/// A message of a rank, no collective's.
void engine::take_short(peer& from, room& there, int source, std::uint64_t tag, std::span<const std::byte> body) {
  if (!speaks_for(from.process, there, source)) return suspect_of_lie(from.process, source);
  from.note_short_message();
  if (receive_operation* receive = there.messages.take_posted(source, tag, false)) {
    if (fits(*receive, source, body.size())) deliver(*receive, source, tag, body.data(), body.size());
    return;
  }
  store(from, there, {.source = source, .tag = tag}, body);
}

/// Until somebody receives it.
void engine::store(peer& from, room& there, const arrival& its, std::span<const std::byte> body) {
  auto message = messages_.take(body.size());
  message->source = its.source;
  message->tag = its.tag;
  message->collective = its.collective;
  message->fingerprint = its.fingerprint;
  message->bytes = body.size();
  message->process = from.process;
  message->copy(body);
  flow_.note_stored(from.process, static_cast<std::ptrdiff_t>(message->cost()));
  there.messages.add_unexpected(std::move(message));
}

void engine::take_envelope(peer& from, const header& h, std::span<const std::byte> body) {
  if (body.size() < sizeof(envelope_body)) return troubles_.suspect(from, "it sent an envelope that is cut short");
  const bool collective = h.matching == space::collective;
  auto message = messages_.take(0);
  message->source = h.source;
  message->tag = h.tag;
  message->collective = collective;
  message->fingerprint = h.detail;
  message->bytes = h.length;
  message->process = from.process;
  message->announced = true;
  message->sender_name = read_part<envelope_body>(body, 0).sender_name;
  room* const there = rooms_.find({h.communicator, h.destination});
  if (there == nullptr || troubles_.owes_break(h.communicator))
    return answer_dropped(from.process, message->sender_name);
  if (!speaks_for(from.process, *there, h.source)) return suspect_of_lie(from.process, h.source);
  if (message->collective && disagrees(*there, h.tag, h.detail, h.source))
    return answer_dropped(from.process, message->sender_name);
  if (receive_operation* receive = there->messages.take_posted(h.source, h.tag, message->collective))
    consume(*receive, std::move(message));
  else
    there->messages.add_unexpected(std::move(message));
}

void engine::done(transfer& ended, std::size_t bytes, std::error_code error) {
  auto& slot = static_cast<transfer_slot&>(ended);
  const auto use = slot.use;
  void* const owner = slot.owner;
  const int process = slot.process;
  const bool cancelled = error == std::errc::operation_canceled;
  const std::size_t expected = slot.bytes;
  slots_.give_back(slot);
  try {
    if (error && !cancelled)
      flow_.suspect_connection(process, text_of([&] { return "its connection failed: " + error.message(); }));
    if (use == transfer_slot::purpose::departure) {
      peer& to = flow_.to(process);
      to.departing -= expected;
      if (owner != nullptr) piece_departed(*static_cast<departure*>(owner), static_cast<bool>(error));
      return pump_next(to);
    }
    if (owner == nullptr) return;
    const bool whole = !error && bytes == expected;
    if (!error && !whole)
      troubles_.suspect(flow_.to(process), text_of([&] {
                          return "a payload of " + std::to_string(bytes) + " bytes came where " +
                                 std::to_string(expected) + " were granted";
                        }));
    piece_landed(*static_cast<landing*>(owner), whole ? bytes : 0, whole);
  } catch (...) {
    flow_.blame(flow_.to(process));
  }
}

void engine::broken(int peer, std::error_code error) {
  flow_.suspect_connection(peer, text_of([&] { return "its connection failed: " + error.message(); }));
}

}  // namespace weft::fabric
