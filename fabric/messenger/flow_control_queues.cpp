// SPDX-License-Identifier: Apache-2.0
// What waits to be sent to each peer, and how it leaves: control frames before messages, each in their order. Frames to
// another node that wait leave together, as one frame of several.
#include <algorithm>
#include <cstring>
#include <new>
#include <utility>
#include <weft/runtime/copy_bytes.hpp>

#include "flow_control.hpp"

namespace weft::fabric {
namespace {

/// What a frame with such a body takes of a frame of several.
constexpr std::size_t bytes_in_several(std::size_t body) noexcept {
  return sizeof(std::uint32_t) + sizeof(header) + body;
}

}  // namespace

void flow_control::send_control(peer& to, header& h, const std::byte* body, std::size_t bytes) noexcept {
  if (to.lost || to.suspected || gives_up()) return;
  const bool first = to.control.empty(), may_wait = in_poll_ && to.road == message_counts::network;
  try {
    if (first && !may_wait && try_transmit(to, h, body, bytes, 0)) return;
    to.control.push(h, body, bytes);
    want_flush(to);
  } catch (...) {
    if (first && may_wait && try_transmit(to, h, body, bytes, 0)) return;
    blame(to);  // it would wait for this for ever
  }
}

bool flow_control::may_go_alone(const peer& to, std::size_t bytes) const noexcept {
  return bytes <= to.at_once && !to.unheard && !to.envelopes_only && to.messages.empty() && to.control.empty() &&
         to.credit - credit_cost(sizeof(header) + bytes) >= credit_of_each_ / 8;
}

/// Of what is sent to another node the first since the last poll leaves now, and the others together in the next one.
bool flow_control::waits_for_poll(peer& to) const noexcept {
  if (to.road != message_counts::network) return false;
  if (std::exchange(to.sent_in, period_) == period_) return true;
  to.waiting_bytes = 0;
  return false;
}

void flow_control::send_eager(peer& to, send_operation& send) {
  to.note_short_message();
  to.unheard |= send.bytes > to.eager;
  header h = head_for(message_kind::eager, send);
  const bool waits = send.may_wait && waits_for_poll(to);
  if (waits) {
    const std::size_t its = bytes_in_several(send.bytes), together = to.waiting_bytes + its;
    to.waiting_bytes = together > room_of_several_ ? its : together;
    if (together > room_of_several_) flush(to);
  } else {
    if (!to.messages.empty()) flush(to);
    if (!to.envelopes_only && to.messages.empty() && try_transmit(to, h, send.data, send.bytes, credit_of_each_ / 8))
      return operations_.end(send);
  }
  to.messages.push(h, send);
  send.now = operation::stage::waiting_for_room;
  if (!waits && to.messages.back().may_be_copied()) buffer(to.messages, to.messages.back());
  want_flush(to);
}

/// A message that cannot leave now is copied, so that its send ends, where there is room for that; a collective's needs
/// no copy to go on.
bool flow_control::buffer(outgoing_queue& of, outgoing& message) noexcept {
  const std::size_t cost = cost_of_buffered(message.bytes);
  if (buffered() + cost > settings_.send_buffer_limit || !buffered_.try_grow(cost, memory_use::spare)) return false;
  const std::byte* const whole = message.operation->data;
  if (message.bytes > short_body) {
    message.longer.reset(new (std::nothrow) std::byte[message.bytes]);
    if (message.longer == nullptr) {
      buffered_.shrink(cost);
      return false;
    }
  }
  if (message.bytes != 0)
    copy_bytes(message.longer != nullptr ? message.longer.get() : message.copy.data(), whole, message.bytes);
  operations_.end(*of.take_operation(message));
  return true;
}

/// The same of all that wait. The last first, which are those that have just come.
void flow_control::buffer_all(peer& to) noexcept {
  if (!to.messages.any_to_copy()) return;
  for (outgoing& each : to.messages.backwards())
    if (each.may_be_copied() && (!buffer(to.messages, each) || !to.messages.any_to_copy())) return;
}

bool flow_control::put_message(peer& to, message_name name, message_ends ends,
                               std::span<const std::byte> data) noexcept {
  const std::int64_t cost = credit_cost(sizeof name + sizeof ends + data.size());
  if (to.lost || to.suspected || to.envelopes_only || !to.messages.empty() || !to.control.empty()) return false;
  if (to.credit - cost < credit_of_each_ / 8) return false;
  if (!post_to_provider(to.process, [&] { return network_.put_message(to.process, name, ends, data); })) return false;
  to.note_short_message();
  to.refused_last = {};
  bell_.sent(to);
  to.credit -= cost;
  return true;
}

void flow_control::send_envelope(peer& to, const departure& announced, header h) {
  h.kind = message_kind::envelope;
  const envelope_body body{announced.id};
  // What is announced waits for polls anyway.
  if (!waits_for_poll(to)) return send_queued(to, h, std::as_bytes(std::span(&body, 1)));
  to.messages.push(h, reinterpret_cast<const std::byte*>(&body), sizeof body);
  want_flush(to);
}

void flow_control::send_queued(peer& to, const header& h, std::span<const std::byte> body) {
  const bool first = to.messages.empty() && to.control.empty();
  to.messages.push(h, body.data(), body.size());
  if (!first || !transmit_first(to)) want_flush(to);
}

/// A short message of the queue is announced. False: there is no memory for that now, and it stays what it was.
bool flow_control::announce(peer& to, outgoing& message) noexcept try {
  if (message.operation == nullptr && message.longer == nullptr) {
    message.longer = std::make_unique_for_overwrite<std::byte[]>(message.bytes);
    std::memcpy(message.longer.get(), message.copy.data(), message.bytes);
  }
  departure& leaving = depart(departures_, to.process, message.bytes);
  leaving.data = message.body();
  leaving.kept = std::move(message.longer);
  leaving.operation = to.messages.take_operation(message);
  if (leaving.operation != nullptr) {
    leaving.operation->now = operation::stage::waiting_for_grant;
    leaving.operation->transfer_state = &leaving;
  }
  message.head.kind = message_kind::envelope;
  message.bytes = sizeof(envelope_body);
  write_part(message.copy.data(), 0, envelope_body{leaving.id});
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

bool flow_control::transmit_first(peer& to) {
  outgoing& first = to.messages.front();
  const bool eager = first.head.kind == message_kind::eager;
  if (eager && to.envelopes_only) {
    if (first.may_be_copied()) buffer(to.messages, first);
    if (!announce(to, first)) return taken(to, false, false);
  }
  if (!try_transmit(to, first.head, first.body(), first.bytes, credit_of_each_ / 8)) return false;
  first_has_left(to.messages);
  return true;
}

void flow_control::first_has_left(outgoing_queue& waiting) noexcept {
  if (waiting.front().operation != nullptr) operations_.end(*waiting.front().operation);
  remove_first(waiting);
}

void flow_control::remove_first(outgoing_queue& waiting) noexcept {
  const outgoing& first = waiting.front();
  if (first.operation == nullptr && first.head.kind == message_kind::eager) note_left(first.bytes);
  waiting.pop();
}

void flow_control::forget(peer& lost) noexcept {
  lost.control.clear();
  while (!lost.messages.empty()) remove_first(lost.messages);
}

/// So many of the first ones go into one frame, where that is more than one: as it has room and there is credit for.
std::size_t flow_control::fit_together(const peer& to, const outgoing_queue& waiting, std::int64_t reserve) const {
  if (to.road != message_counts::network || slots_.several() == frames_of_several || to.credit <= reserve) return 0;
  const auto most = static_cast<std::size_t>(to.credit - reserve) * credit_unit;
  if (most < sizeof(header) + 2 * bytes_in_several(0)) return 0;
  const std::size_t room = std::min({room_of_several_, to.at_once, most - sizeof(header)});
  std::size_t used = 0, count = 0;
  for (const outgoing& each : waiting) {
    const bool is_announced = each.head.kind == message_kind::eager && to.envelopes_only;
    used += bytes_in_several(each.bytes);
    if (each.head.kind == message_kind::hello || is_announced || used > room) break;
    ++count;
  }
  return count < 2 ? 0 : count;
}

bool flow_control::transmit_several(peer& to, outgoing_queue& waiting, std::size_t count, std::int64_t reserve) {
  std::byte* end = several_.get();
  auto each = waiting.begin();
  for (std::size_t i = 0; i < count; ++i, ++each) {
    write_part(end, 0, static_cast<std::uint32_t>(sizeof(header) + each->bytes));
    write_part(end, sizeof(std::uint32_t), each->head);
    if (each->bytes != 0) std::memcpy(end + bytes_in_several(0), each->body(), each->bytes);
    end += bytes_in_several(each->bytes);
  }
  header h;
  h.kind = message_kind::several;
  if (!try_transmit(to, h, several_.get(), static_cast<std::size_t>(end - several_.get()), reserve)) return false;
  for (; count != 0; --count) first_has_left(waiting);
  return true;
}

bool flow_control::flush(peer& to) {
  if (transmit_all(to)) return true;
  buffer_all(to);
  return false;
}

bool flow_control::transmit_all(peer& to) {
  if (to.credit_due && !send_credit(to)) return false;
  const auto transmit = [&](outgoing_queue& waiting, std::int64_t reserve, auto&& transmit_one) {
    while (!waiting.empty()) {
      const std::size_t together = fit_together(to, waiting, reserve);
      if (together != 0 ? !transmit_several(to, waiting, together, reserve) : !transmit_one()) return false;
    }
    return true;
  };
  const auto transmit_control = [&] {
    outgoing& first = to.control.front();
    if (!try_transmit(to, first.head, first.body(), first.bytes, 0)) return false;
    to.control.pop();
    return true;
  };
  return transmit(to.control, 0, transmit_control) &&
         transmit(to.messages, credit_of_each_ / 8, [&] { return transmit_first(to); });
}

void flow_control::flush() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < unflushed_.size(); ++i) {
    peer& to = *unflushed_[i];
    if (to.lost || flush(to))
      to.flush_wanted = false;
    else
      unflushed_[kept++] = &to;
  }
  unflushed_.resize(kept);
}

void flow_control::want_flush(peer& to) {
  if (to.flush_wanted || (to.control.empty() && to.messages.empty() && !to.credit_due)) return;
  to.flush_wanted = true;
  unflushed_.push_back(&to);
}

}  // namespace weft::fabric
