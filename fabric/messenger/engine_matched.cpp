// SPDX-License-Identifier: Apache-2.0
// Messages that meet their receives: those of this process, and those that came before their receive.
#include <utility>
#include <weft/runtime/copy_bytes.hpp>
#include <weft/runtime/error.hpp>

#include "engine.hpp"

namespace weft::fabric {

void engine::send_home(send_operation& send) {
  const auto& members = *send.at->members;
  room* const found = rooms_.find(key_of(members, send.peer));
  if (found == nullptr) return operations_.end(send);
  room& there = *found;
  if (send.collective && disagrees(there, send.tag, send.fingerprint, send.at->rank)) return;
  if (receive_operation* receive = there.messages.take_posted(send.at->rank, send.tag, send.collective)) {
    if (send.collective && !agrees(*receive, send.at->rank, send.fingerprint)) return;
    if (!fits(*receive, send.at->rank, send.bytes)) return fail_with(send, *receive);
    if (send.poisoned != nullptr) [[unlikely]]
      end_poisoned(*receive, send.poisoned);
    else
      deliver(*receive, send.at->rank, send.tag, send.data, send.bytes);
    return operations_.end(send);
  }
  peer& home = flow_.to(settings_.process);
  const bool copied = send.poisoned != nullptr ||
                      (send.bytes <= settings_.eager_limit && !send.synchronous &&
                       home.stored + send.bytes <= settings_.unexpected_limit + settings_.send_buffer_limit &&
                       !flow_.memory_is_scarce());
  auto message = messages_.take(copied && send.poisoned == nullptr ? send.bytes : 0);
  message->source = send.at->rank;
  message->tag = send.tag;
  message->collective = send.collective;
  message->fingerprint = send.fingerprint;
  message->bytes = send.bytes;
  message->process = settings_.process;
  if (send.poisoned != nullptr) [[unlikely]]
    message->poisoned = send.poisoned;
  if (copied && send.poisoned == nullptr) message->copy({send.data, send.bytes});
  unexpected_message& waiting = *message;
  if (!copied) {
    waiting.announced = true;
    waiting.at_home = &send;
  }
  there.messages.add_unexpected(std::move(message));
  if (copied) {
    flow_.note_stored(settings_.process, static_cast<std::ptrdiff_t>(waiting.cost()));
    return operations_.end(send);
  }
  send.now = operation::stage::waiting_at_home;
  send.transfer_state = &waiting;
}

void engine::deliver(receive_operation& receive, int source, std::uint64_t tag, const std::byte* message,
                     std::size_t bytes) noexcept {
  copy_bytes(receive.data, message, bytes);
  receive.source = source;
  receive.received_tag = tag;
  receive.received = bytes;
  counts_.received.add(bytes);
  operations_.end(receive);
}

void engine::fail_with(send_operation& send, const receive_operation& receive) noexcept {
  if (send.now != operation::stage::ended)
    fail(send, receive.failure);  // else the communicator has failed with the receive
}

void engine::consume(receive_operation& receive, std::unique_ptr<unexpected_message> message) {
  match(receive, message.get());
  messages_.keep(std::move(message));
}

void engine::consume_aside(receive_operation& receive) {
  auto message = receive.at->here->messages.take_aside(std::exchange(receive.aside, 0));
  if (message == nullptr) return fail(receive, gave_up_error(*receive.at, receive.peer));
  consume(receive, std::move(message));
}

void engine::discard(participant& member, std::uint64_t number) noexcept {
  if (auto message = member.here->messages.take_aside(number)) drop(std::move(message));
}

/// Nobody will ever take it.
void engine::drop(std::unique_ptr<unexpected_message> message) noexcept {
  flow_.note_stored(message->process, -static_cast<std::ptrdiff_t>(message->cost()));
  if (message->at_home != nullptr)
    operations_.end(*message->at_home);
  else if (message->announced)
    answer_dropped(message->process, message->sender_name);
  messages_.keep(std::move(message));
}

void engine::match(receive_operation& receive, unexpected_message* message) {
  flow_.note_stored(message->process, -static_cast<std::ptrdiff_t>(message->cost()));
  if (message->at_home != nullptr) message->at_home->transfer_state = nullptr;  // no longer in the mailbox
  if (message->collective && !agrees(receive, message->source, message->fingerprint)) return;
  if (!fits(receive, message->source, message->bytes)) {
    if (message->at_home != nullptr) return fail_with(*message->at_home, receive);
    if (!message->announced) return;
    header h = flow_.head_for(message_kind::refuse, receive);
    h.length = receive.bytes;
    h.detail = message->sender_name;
    return flow_.send_control(flow_.to(message->process), h);
  }
  if (message->poisoned != nullptr) return end_poisoned(receive, message->poisoned);
  if (message->at_home != nullptr) {
    deliver(receive, message->source, message->tag, message->at_home->data, message->bytes);
    return operations_.end(*message->at_home);
  }
  if (message->announced && message->bytes == 0) {  // there is nothing to ask for
    deliver(receive, message->source, message->tag, nullptr, 0);
    return answer_dropped(message->process, message->sender_name);
  }
  receive.source = message->source;
  receive.received_tag = message->tag;
  if (message->announced) {
    try {
      begin_landing(receive, message->process, message->bytes, message->sender_name, false);
    } catch (...) {
      if (receive.now != operation::stage::landing) answer_dropped(message->process, message->sender_name);
      throw;
    }
  } else {
    deliver(receive, message->source, message->tag, message->data.get(), message->bytes);
  }
}

void engine::fail_misfit(receive_operation& receive, int source, std::size_t bytes) {
  // Granted as a long message, sent or announced all the same: ends as every receive of a communicator that fails.
  if (receive.now == operation::stage::landing)
    return report_mismatch(*receive.at, receive.fingerprint, source, receive.fingerprint);
  fail(receive, std::make_exception_ptr(error(
                    errc::truncated,
                    "receive on rank " + std::to_string(receive.at->rank) + " from rank " + std::to_string(source) +
                        " of communicator " + std::to_string(receive.at->members->communicator) + ": the message has " +
                        std::to_string(bytes) + " bytes, the buffer " + std::to_string(receive.bytes))));
}

bool engine::agrees(receive_operation& receive, int source, std::uint64_t fingerprint) {
  if (receive.fingerprint == fingerprint) return true;
  report_mismatch(*receive.at, receive.fingerprint, source, fingerprint);
  return false;
}

}  // namespace weft::fabric
