// Peers: what waits to be sent to each, and credit.
//
// Each frame costs the credit of its bytes, given back when the receiver has taken it out of its ring, which every poll
// does: so credit always comes back while the peer polls, whatever its ranks do. The last eighth of the credit is kept
// for control frames. What costs nothing has room in the ring beside the credit, for 16 headers of each peer:
// - frames that open connections: three at most;
// - frames that give back at least half of a peer's credit. A peer that has taken none of them has nothing to spend but
//   the credit that it began with, so that there are two of them at most which it has not taken. Other frames that say
//   something of credit, as when a peer is to send envelopes only, cost as much as any; one that has to wait for credit
//   goes at the latest when half of the peer's is to be given back, so two peers never wait for each other;
// - frames that let a peer find a gap before them (`check_sequences`): eight at most.
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <weft/runtime/error.hpp>

#include "engine.hpp"

namespace weft::fabric {
namespace {

constexpr int free_checks = 8;
constexpr std::chrono::milliseconds between_checks{10};

}  // namespace

bool engine::drained() const noexcept {
  return unflushed_.empty() && std::ranges::none_of(slots_.flying(), [](const transfer_slot& slot) {
           return slot.use == transfer_slot::purpose::frame;
         });
}

header engine::head_for(message_kind kind, const operation& about) const noexcept {
  header h;
  h.kind = kind;
  h.matching = about.collective ? space::collective : space::message;
  h.communicator = about.at->members->communicator;
  h.source = about.at->rank;
  if (about.peer != any_peer) h.destination = key_of(*about.at->members, about.peer).rank;
  h.tag = about.tag;
  h.length = about.bytes;
  h.detail = about.fingerprint;
  return h;
}

bool engine::costs_credit(const header& h) noexcept {
  return h.kind != message_kind::hello && (h.kind != message_kind::credit || h.destination != 0);
}

bool engine::gives_for_nothing(const peer& to) const noexcept {
  return to.owed >= credit_of_each_ / 2 || (to.check_due && to.checks < free_checks);
}

bool engine::try_transmit(peer& to, header& h, const std::byte* body, std::size_t bytes, std::int64_t reserve) {
  const std::size_t size = sizeof(header) + bytes;
  if (h.kind == message_kind::credit) h.destination = gives_for_nothing(to) ? 0 : 1;
  const std::int64_t cost = costs_credit(h) ? credit_cost(size) : 0;
  if (cost != 0 && to.credit - cost < reserve) return false;
  h.job = settings_.job;
  h.process = static_cast<std::uint32_t>(settings_.process);
  h.incarnation = settings_.incarnations[static_cast<std::size_t>(settings_.process)];
  h.sequence = to.sent_frames;
  h.credit = to.owed;
  const bool check = h.kind == message_kind::credit && to.check_due;  // one whose end the provider reports
  if (size <= inject_limit_ && size <= 4096 && !check) {
    alignas(64) std::array<std::byte, 4096> frame;
    write_part(frame.data(), 0, h);
    if (bytes != 0) std::memcpy(frame.data() + sizeof h, body, bytes);
    if (!taken(to, post_to_provider(to.process, [&] { return network_->inject(to.process, {frame.data(), size}); })))
      return false;
  } else {
    transfer_slot& slot = slots_.take(transfer_slot::purpose::frame, nullptr, to.process, size);
    write_part(slot.frame.get(), 0, h);
    if (bytes != 0) std::memcpy(slot.frame.get() + sizeof h, body, bytes);
    const auto post = [&] { return network_->send(to.process, {slot.frame.get(), size}, slot); };
    if (!taken(to, post_to_provider(to.process, post))) return slots_.give_back(slot), false;
  }
  ++to.sent_frames;
  to.owed = 0;
  to.credit -= cost;
  return true;
}

bool engine::taken(peer& by, bool accepted) {
  if (accepted) [[likely]] {
    by.refused_since = {};
    bell_.sent(by);
    return true;
  }
  const auto now = steady_clock_source().now();
  if (by.refused_since == clock::time_point{})
    by.refused_since = now;
  else if (now - by.refused_since > settings_.refusal_limit)
    suspect(by.process, "for " + std::to_string(settings_.refusal_limit.count()) + " ms " +
                            network_->limits().provider + " has taken nothing for it");
  return false;
}

void engine::send_control(peer& to, header& h, const std::byte* body, std::size_t bytes) noexcept {
  if (to.lost || to.suspected) return;
  try {
    if (to.control.empty() && try_transmit(to, h, body, bytes, 0)) return;
    to.control.push(h, body, bytes);
    want_flush(to);
  } catch (const std::exception& failed) {
    suspect(to.process, failed.what());  // it would wait for this for ever
  }
}

void engine::send_eager(peer& to, send_operation& send) {
  note_short_message(to);
  header h = head_for(message_kind::eager, send);
  const bool as_envelope = to.envelopes_only && send.bytes > smaller_than_an_envelope;
  if (!as_envelope && to.messages.empty() && try_transmit(to, h, send.data, send.bytes, credit_of_each_ / 8))
    return end(send);
  if (!send.collective && buffered_ + send.bytes <= settings_.send_buffer_limit) {
    to.messages.push(h, send.data, send.bytes);
    buffered_ += send.bytes;
    end(send);
  } else {  // a collective needs no copy to go on
    to.messages.push(h, send);
    send.now = operation::stage::waiting_for_room;
  }
  want_flush(to);
}

void engine::send_envelope(peer& to, departure& announced, header h) {
  h.kind = message_kind::envelope;
  const envelope_body body{announced.id};
  send_queued(to, h, std::as_bytes(std::span(&body, 1)));
}

void engine::send_queued(peer& to, const header& h, std::span<const std::byte> body) {
  const bool first = to.messages.empty();
  to.messages.push(h, body.data(), body.size());
  if (!first || !transmit_first(to)) want_flush(to);
}

bool engine::transmit_first(peer& to) {
  outgoing& first = to.messages.front();
  const bool eager = first.head.kind == message_kind::eager;
  if (eager && to.envelopes_only && first.bytes > smaller_than_an_envelope) {
    departure& leaving = depart(to.process, first.bytes);
    leaving.data = first.body();
    leaving.kept = std::move(first.longer);
    leaving.operation = std::exchange(first.operation, nullptr);
    if (leaving.operation != nullptr) {
      leaving.operation->now = operation::stage::waiting_for_grant;
      leaving.operation->transfer_state = &leaving;
    }
    first.head.kind = message_kind::envelope;
    first.bytes = sizeof(envelope_body);
    write_part(first.copy.data(), 0, envelope_body{leaving.id});
    return transmit_first(to);
  }
  if (!try_transmit(to, first.head, first.body(), first.bytes, credit_of_each_ / 8)) return false;
  if (first.operation != nullptr) end(*first.operation);
  remove_first_message(to);
  return true;
}

void engine::remove_first_message(peer& to) noexcept {
  const outgoing& first = to.messages.front();
  if (first.operation == nullptr && first.head.kind == message_kind::eager) buffered_ -= first.bytes;
  to.messages.pop();
}

bool engine::flush(peer& to) {
  if (to.credit_due && !send_credit(to)) return false;
  while (!to.control.empty()) {
    outgoing& first = to.control.front();
    if (!try_transmit(to, first.head, first.body(), first.bytes, 0)) return false;
    to.control.pop();
  }
  while (!to.messages.empty())
    if (!transmit_first(to)) return false;
  return true;
}

void engine::flush_all() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < unflushed_.size(); ++i) {
    peer& to = *unflushed_[i];
    bool flushed = false;
    try {
      flushed = to.lost || flush(to);
    } catch (const std::exception& failed) {
      if (to.control.empty() && !to.messages.empty())
        drop_first_message(to);
      else
        suspect(to.process, failed.what());
    }
    if (flushed)
      to.flush_wanted = false;
    else
      unflushed_[kept++] = &to;
  }
  unflushed_.resize(kept);
}

void engine::want_flush(peer& to) {
  if (to.flush_wanted || (to.control.empty() && to.messages.empty() && !to.credit_due)) return;
  to.flush_wanted = true;
  unflushed_.push_back(&to);
}

void engine::take_credit(peer& from, const header& h) {
  from.credit += h.credit;
  if (h.credit != 0) want_flush(from);
}

void engine::owe_credit(peer& to, std::size_t frame_bytes) {
  to.owed += credit_cost(frame_bytes);
  if (to.owed < credit_of_each_ / 2 || to.credit_due) return;
  to.credit_due = true;
  want_flush(to);
}

bool engine::send_credit(peer& to) {
  header h;
  h.kind = message_kind::credit;
  h.source = to.asked_for_envelopes ? 1 : 0;
  if (!try_transmit(to, h, nullptr, 0, 0)) return false;
  if (std::exchange(to.check_due, false)) ++to.checks;
  to.credit_due = false;
  return true;
}

void engine::dropped() { frames_dropped_ = true; }

/// The provider has lost an injected frame, and does not say whose. Whoever misses it sees that by the frame after it:
/// so each peer gets one.
void engine::check_sequences() {
  const auto now = steady_clock_source().now();
  if (now < next_check_) return;
  next_check_ = now + between_checks;
  frames_dropped_ = false;
  for (const auto& each : peers_) {
    if (each->lost || !each->connected || each->process == settings_.process) continue;
    each->check_due = each->credit_due = true;
    want_flush(*each);
  }
}

void engine::note_stored(int process, std::ptrdiff_t bytes) {
  peer& from = *peers_[static_cast<std::size_t>(process)];
  from.stored = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(from.stored) + bytes);
  if (process == settings_.process) return;
  const bool ask = from.asked_for_envelopes ? from.stored > settings_.unexpected_limit / 2
                                            : from.stored > settings_.unexpected_limit;
  if (ask == from.asked_for_envelopes) return;
  from.asked_for_envelopes = ask;
  from.credit_due = true;
  want_flush(from);
}

}  // namespace weft::fabric
