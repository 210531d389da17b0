// SPDX-License-Identifier: Apache-2.0
// Messages without contents: an operator threw, and whoever depends on what it would have made is told by the messages
// that would have brought it. So every rank sends and receives as many messages as ever, and the communicator goes on.
//
// A short one, or one that would have been announced, is a frame in place of the message. A long one answers the grant
// that the receiver sends in advance; the receiver takes its memory back from the provider and says so, behind all its
// grants for the message, so that the sender knows which of those that still come belong to nothing.
#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>
#include <weft/runtime/error.hpp>

#include "engine.hpp"

namespace weft::fabric {
namespace {

constexpr std::size_t longest_reason = 200;

}  // namespace

std::exception_ptr as_failure(const poison& of) {
  return std::make_exception_ptr(error(errc::operation_failed, "the operator of rank " + std::to_string(of.origin) +
                                                                   " threw" + (of.why.empty() ? "" : ": " + of.why)));
}

std::vector<std::byte> engine::bytes_of(const poison& why) const {
  const std::size_t room = flow_.frame_limit() - sizeof(header) - sizeof(poison_body);
  const std::string_view text = std::string_view(why.why).substr(0, std::min(longest_reason, room));
  std::vector<std::byte> body(sizeof(poison_body) + text.size());
  write_part(body.data(), 0, poison_body{why.origin});
  if (!text.empty()) std::memcpy(body.data() + sizeof(poison_body), text.data(), text.size());
  return body;
}

std::shared_ptr<const poison> engine::read_poison(std::span<const std::byte> body) {
  auto read = std::make_shared<poison>();
  if (body.size() < sizeof(poison_body)) return read;  // of nobody: cut short
  read->origin = read_part<poison_body>(body, 0).origin;
  const auto text = body.subspan(sizeof(poison_body));
  read->why.assign(reinterpret_cast<const char*>(text.data()), text.size());
  return read;
}

void engine::send_poisoned(peer& to, send_operation& send) {
  const auto body = bytes_of(*send.poisoned);
  flow_.send_queued(to, flow_.head_for(message_kind::poisoned, send), body);
  operations_.end(send);
}

void engine::take_poisoned(peer& from, const header& h, std::span<const std::byte> body) {
  if (body.size() < sizeof(poison_body) || (h.length > from.at_once && settings_.prepost))
    return troubles_.suspect(from, "it sent a message without contents that is cut short, or too long for one");
  room* const there = rooms_.find({h.communicator, h.destination});
  if (there == nullptr) return;
  if (!speaks_for(from.process, *there, h.source)) return suspect_of_lie(from.process, h.source);
  if (disagrees(*there, h.tag, h.detail, h.source)) return;
  auto message = messages_.take(0);
  message->source = h.source;
  message->tag = h.tag;
  message->collective = true;
  message->fingerprint = h.detail;
  message->bytes = h.length;
  message->process = from.process;
  message->poisoned = read_poison(body);
  flow_.note_stored(from.process, static_cast<std::ptrdiff_t>(message->cost()));
  if (receive_operation* receive = there->messages.take_posted(h.source, h.tag, true))
    consume(*receive, std::move(message));
  else
    there->messages.add_unexpected(std::move(message));
}

void engine::end_poisoned(receive_operation& receive, std::shared_ptr<const poison> poisoned) {
  receive.failure = as_failure(*poisoned);
  receive.poisoned = std::move(poisoned);
  operations_.end(receive);
}

void engine::answer_poisoned(departure& granted) {
  send_operation& send = *granted.operation;
  const auto body = bytes_of(*send.poisoned);
  granted.stopped = true;
  granted.operation = nullptr;
  header h;
  h.kind = message_kind::withdrawn;
  h.source = static_cast<std::int32_t>(stopped::poisoned);
  h.detail = granted.remote_id;
  flow_.send_control(flow_.to(granted.process), h, body.data(), body.size());
  operations_.end(send);
}

}  // namespace weft::fabric
