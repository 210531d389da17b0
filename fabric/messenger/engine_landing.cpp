// SPDX-License-Identifier: Apache-2.0
// Long messages on their way in (engine_departure.cpp has the drawing).
#include <algorithm>
#include <array>
#include <utility>
#include <weft/runtime/error.hpp>

#include "engine.hpp"

namespace weft::fabric {
namespace {

/// A window holds so many pieces, of one message or of several.
constexpr std::size_t pieces_in_window = 4;

/// Pieces shorter than this cost more than they save.
constexpr std::size_t shortest_shared_piece = 4 << 10;

}  // namespace

void engine::begin_landing(receive_operation& receive, int process, std::size_t bytes, std::uint32_t sender_name,
                           bool early) {
  landing& arriving = landings_.add();
  arriving.process = process;
  arriving.operation = &receive;
  arriving.bytes = bytes;
  arriving.sender_name = sender_name;
  arriving.next_count = 0;
  arriving.posted = arriving.landed = arriving.target = 0;
  arriving.pieces = 0;
  arriving.in_flight = 0;
  arriving.active = !early;
  arriving.asked = early && !may_land_early(flow_.to(process));
  arriving.early_pieces = 0;
  arriving.granted = false;
  arriving.withdrawing = arriving.last_known = false;
  arriving.told_why = true;
  arriving.orphaned = false;
  arriving.poisoned.reset();
  arriving.taken_back = false;
  receive.now = operation::stage::landing;
  receive.transfer_state = &arriving;
  peer& from = flow_.to(process);
  if (early) {
    receive.source = receive.peer;
    receive.received_tag = receive.tag;
    if (arriving.asked) return send_grant(arriving, 0);
    while (arriving.next_count < ahead(from) && arriving.target < bytes) raise(arriving, next_piece(from));
    early_pieces_ += arriving.early_pieces = arriving.next_count;
    return post_pieces(arriving);
  }
  from.waiting.push_back(arriving);
  share_window(from);
}

bool engine::may_land_early(const peer& from) const noexcept {
  return early_pieces_ + ahead(from) <= network_->limits().receives / 4 * 3;
}

void engine::take_ready(peer& from, const header& h) {
  landing* const ready = landings_.find(static_cast<std::uint32_t>(h.detail));
  if (ready == nullptr || ready->process != from.process || ready->withdrawing) return;
  if (!ready->asked || ready->active)
    return troubles_.suspect(from, "it says twice, or unasked, that a message is ready");
  ready->active = true;
  from.waiting.push_back(*ready);
  share_window(from);
}

std::size_t engine::next_piece(const peer& from) const noexcept {
  if (from.shared_pieces == 0) return settings_.piece;
  return std::min(settings_.piece, std::max(settings_.window / pieces_in_window, shortest_shared_piece));
}

std::size_t engine::window(const peer& from) const noexcept {
  return from.links * (from.shared_pieces == 0 ? pieces_in_window * settings_.piece : settings_.window);
}

/// Pieces of a message from there that may be on the way.
std::size_t engine::ahead(const peer& from) noexcept { return std::min(pieces_ahead * from.links, most_pieces_ahead); }

void engine::raise(landing& arriving, std::size_t piece) noexcept {
  const std::size_t bytes = std::min(piece, arriving.bytes - arriving.target);
  arriving.next_pieces[arriving.next_count++] = static_cast<std::uint32_t>(bytes);
  arriving.target += bytes;
}

void engine::share_window(peer& from) {
  while (!from.waiting.empty()) {
    landing& first = from.waiting.front();
    if (first.target == first.bytes || first.next_count + static_cast<std::size_t>(first.in_flight) >= ahead(from)) {
      from.waiting.pop_front();
      continue;
    }
    const std::size_t piece = next_piece(from);
    if (from.window_used != 0 && from.window_used + piece > window(from)) return;
    const std::size_t before = first.target;
    raise(first, piece);
    from.window_used += first.target - before;
    if (from.shared_pieces != 0) --from.shared_pieces;
    post_pieces(first);
  }
}

void engine::post_pieces(landing& arriving) {
  std::uint32_t piece = 0;  // of those posted and not granted yet
  while (arriving.next_count != 0) {
    const std::uint32_t bytes = arriving.next_pieces[0];
    const auto receive = [&](transfer_slot& slot) {
      slot.bytes = bytes;
      return network_->receive_payload(arriving.process, piece_tag(arriving.id, arriving.pieces),
                                       {arriving.operation->data + arriving.posted, bytes}, slot);
    };
    if (!flow_.post_transfer(transfer_slot::purpose::landing, &arriving, arriving.process, 0, receive)) {
      if (!arriving.blocked.is_linked()) blocked_landings_.push_back(arriving);
      break;
    }
    const bool last = arriving.posted + bytes == arriving.bytes;
    if (piece != 0 && bytes != piece && !(last && bytes < piece)) send_grant(arriving, std::exchange(piece, 0));
    if (piece == 0) piece = bytes;
    arriving.posted += bytes;
    ++arriving.pieces;
    ++arriving.in_flight;
    std::shift_left(arriving.next_pieces.begin(), arriving.next_pieces.end(), 1);
    --arriving.next_count;
  }
  if (piece != 0) send_grant(arriving, piece);
}

void engine::send_grant(landing& arriving, std::uint32_t piece) {
  arriving.granted = true;
  const receive_operation& receive = *arriving.operation;
  header h = flow_.head_for(message_kind::grant, receive);
  h.destination = receive.at->rank;  // source and destination are the message's, not the grant's
  h.source = key_of(*receive.at->members, receive.source).rank;
  h.tag = receive.received_tag;
  h.length = arriving.bytes;
  std::array<std::byte, sizeof(grant_body)> body;
  write_part(body.data(), 0, grant_body{arriving.posted, arriving.sender_name, arriving.id, piece});
  flow_.send_control(flow_.to(arriving.process), h, body.data(), body.size());
}

void engine::remove(landing& gone) noexcept {
  peer& from = flow_.to(gone.process);
  if (gone.waiting.is_linked()) from.waiting.erase(from.waiting.iterator_to(gone));
  if (gone.blocked.is_linked()) blocked_landings_.erase(blocked_landings_.iterator_to(gone));
  if (gone.active) from.window_used -= gone.target - gone.landed;
  early_pieces_ -= gone.early_pieces;
  landings_.remove(gone);
}

void engine::piece_landed(landing& arriving, std::size_t bytes, bool whole) {
  peer& from = flow_.to(arriving.process);
  --arriving.in_flight;
  arriving.landed += bytes;
  if (arriving.active) {
    from.window_used -= bytes;
  } else {
    arriving.active = true;
    early_pieces_ -= std::exchange(arriving.early_pieces, 0);
    from.window_used += arriving.target - arriving.landed;
  }
  if (arriving.withdrawing || !whole) return settle(arriving);
  if (arriving.landed == arriving.bytes) {
    receive_operation& receive = *arriving.operation;
    receive.received = arriving.bytes;
    counts_.received.add(arriving.bytes);
    if (receive.in_mailbox) receive.at->here->messages.remove_posted(receive);
    remove(arriving);
    operations_.end(receive);
  } else if (arriving.target < arriving.bytes && !arriving.waiting.is_linked()) {
    from.waiting.push_back(arriving);
  }
  share_window(from);
}

void engine::stop(landing& stopped) noexcept {
  stopped.withdrawing = true;
  peer& from = flow_.to(stopped.process);
  if (stopped.waiting.is_linked()) from.waiting.erase(from.waiting.iterator_to(stopped));
  if (stopped.blocked.is_linked()) blocked_landings_.erase(blocked_landings_.iterator_to(stopped));
  receive_operation& receive = *stopped.operation;
  if (receive.in_mailbox) receive.at->here->messages.remove_posted(receive);
}

void engine::withdraw(landing& arriving) {
  const bool first = !arriving.withdrawing;
  stop(arriving);
  peer& from = flow_.to(arriving.process);
  if (from.lost) {
    if (arriving.orphaned) return settle(arriving);
    arriving.orphaned = arriving.last_known = any_orphans_ = true;
    cancel_pieces(arriving);
  } else if (!arriving.granted) {
    arriving.last_known = true;  // so nothing comes
    if (first && arriving.sender_name != 0) answer_dropped(arriving.process, arriving.sender_name);
    cancel_pieces(arriving);
  } else if (first) {
    send_withdrawal(arriving);
  }
  settle(arriving);
}

void engine::take_back(receive_operation& posted) noexcept {
  if (posted.now == operation::stage::posted) {
    posted.at->here->messages.remove_posted(posted);
    posted.received = 0;
    return operations_.end(posted);
  }
  if (posted.now != operation::stage::landing) return;
  auto& arriving = *static_cast<landing*>(posted.transfer_state);
  if (arriving.withdrawing) return;  // its communicator has failed
  arriving.taken_back = true;
  try {
    withdraw(arriving);
  } catch (...) {
    flow_.blame(flow_.to(arriving.process));
  }
}

bool engine::cancel(receive_operation& posted) noexcept {
  if (posted.now != operation::stage::posted) return false;
  take_back(posted);
  return true;
}

void engine::send_withdrawal(const landing& arriving) {
  const participant& member = *arriving.operation->at;
  header h = flow_.head_for(message_kind::withdraw, *arriving.operation);
  h.source =
      static_cast<std::int32_t>(member.failure == nullptr || member.failed_alone ? stopped::alone : stopped::told);
  h.detail = arriving.id;
  flow_.send_control(flow_.to(arriving.process), h);
}

void engine::cancel_pieces(landing& withdrawn) {
  for (transfer_slot& slot : slots_.flying())
    if (slot.owner == &withdrawn) network_->cancel(slot);
}

/// What it had of the window is for others.
void engine::remove_withdrawn(landing& gone) noexcept {
  peer& from = flow_.to(gone.process);
  remove(gone);
  if (from.lost) return;
  try {
    share_window(from);
  } catch (...) {
    flow_.blame(from);
  }
}

void engine::settle(landing& withdrawn) {
  if (!withdrawn.withdrawing || !withdrawn.last_known || withdrawn.in_flight != 0) return;
  receive_operation& receive = *withdrawn.operation;
  if (withdrawn.poisoned != nullptr && receive.at->failure == nullptr) {
    end_poisoned(receive, std::move(withdrawn.poisoned));
    return remove_withdrawn(withdrawn);
  }
  if (withdrawn.taken_back && receive.at->failure == nullptr) {
    remove_withdrawn(withdrawn);
    receive.received = 0;
    return operations_.end(receive);
  }
  if (receive.at->failure == nullptr && withdrawn.told_why) return;  // the reason is on its way
  std::exception_ptr why = receive.at->failure != nullptr ? receive.at->failure : receive.failure;
  if (why == nullptr) why = gave_up_error(*receive.at, receive.source);
  remove_withdrawn(withdrawn);
  fail(receive, std::move(why));
}

std::exception_ptr engine::gave_up_error(const participant& receiver, int sender) {
  return std::make_exception_ptr(error(errc::operation_failed, "rank " + std::to_string(sender) + " of communicator " +
                                                                   std::to_string(receiver.members->communicator) +
                                                                   " gave up the message that it was sending"));
}

void engine::answer_dropped(int process, std::uint64_t sender_name) {
  header h;
  h.kind = message_kind::dropped;
  h.detail = sender_name;
  flow_.send_control(flow_.to(process), h);
}

void engine::take_withdrawn(peer& from, const header& h, std::span<const std::byte> body) {
  landing* withdrawn = landings_.find(static_cast<std::uint32_t>(h.detail));
  if (withdrawn == nullptr || withdrawn->process != from.process || withdrawn->last_known) return;
  if (!withdrawn->withdrawing) {  // the sender gave up first
    const auto why = static_cast<stopped>(h.source);
    auto poisoned = why == stopped::poisoned ? read_poison(body) : nullptr;
    if (why == stopped::left) {
      note_lost(static_cast<std::int64_t>(h.tag) - 1);
      withdrawn->operation->failure = left_error(*withdrawn->operation->at, withdrawn->operation->source);
    }
    stop(*withdrawn);
    withdrawn->told_why = why == stopped::told;
    withdrawn->poisoned = std::move(poisoned);
    if (why == stopped::poisoned) send_withdrawal(*withdrawn);  // behind all its grants: the sender can forget it
  }
  withdrawn->last_known = true;
  withdrawn->last = std::min<std::size_t>(h.length, withdrawn->bytes);
  // What has been sent lands, in the receives that were posted first, so the others are the last ones posted.
  std::size_t beyond = withdrawn->posted - std::min(withdrawn->last, withdrawn->posted);
  auto& flying = slots_.flying();
  for (auto slot = flying.rbegin(); slot != flying.rend() && beyond != 0; ++slot) {
    if (slot->owner != withdrawn) continue;
    beyond -= std::min(beyond, slot->bytes);
    network_->cancel(*slot);
  }
  settle(*withdrawn);
}

}  // namespace weft::fabric
