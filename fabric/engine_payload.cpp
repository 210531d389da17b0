// Long messages: granted, in pieces.
//
//   sender                                receiver
//   departure --envelope (messages)-->    match, or a collective's start
//             <--grant (2 pieces)-----    landing: memory posted for two pieces
//             ---piece--->                landed: the next is posted
//             <--grant (1 more)-------    ...
//
// At most two pieces of a message are on the way, and at most a window of pieces from one peer. Long pieces cost least (over
// net, pieces of 128 KiB take a third longer than pieces of 1 MiB); but while short messages pass between the same two
// processes pieces are short, since each such message waits for those before it. A collective's first two pieces are granted before its sender is ready and count against no window:
// otherwise one that is late could keep up messages that it waits for itself.
#include "engine.hpp"

#include <weft/runtime/error.hpp>

#include <algorithm>
#include <utility>

namespace weft::fabric {
namespace {

/// A window holds so many pieces, of one message or of several.
constexpr std::size_t pieces_in_window = 4;

/// Pieces shorter than this cost more than they save.
constexpr std::size_t shortest_shared_piece = 4 << 10;

/// A short message that passes while a payload arrives keeps the next pieces short.
constexpr int pieces_after_short_message = 8;

/// How long the provider gets to give back memory that a lost process was to fill.
constexpr std::chrono::milliseconds doomed_time{500};

}  // namespace

departure& engine::depart(int process, std::size_t bytes) {
  departure& leaving = departures_.add();
  leaving.process = process;
  leaving.operation = nullptr;
  leaving.kept.reset();
  leaving.data = nullptr;
  leaving.bytes = bytes;
  leaving.remote_id = 0;
  leaving.grant_count = 0;
  leaving.sent = 0;
  leaving.in_flight = 0;
  leaving.stopped = leaving.withdrawn = false;
  leaving.early_in = nullptr;
  return leaving;
}

void engine::remove(departure& gone) noexcept {
  if (gone.early_in != nullptr) gone.early_in->early_grants.erase(gone.early_key, gone);
  if (gone.blocked.is_linked()) blocked_departures_.erase(blocked_departures_.iterator_to(gone));
  if (gone.remote_id != 0) granted_.erase(remote_key(gone.process, gone.remote_id));
  if (gone.in_flight != 0)
    for (transfer_slot& slot : flying_)
      if (slot.owner == &gone) slot.owner = nullptr;
  if (gone.kept != nullptr) buffered_ -= gone.bytes;
  gone.kept.reset();
  departures_.remove(gone);
}

void engine::pump(departure& leaving) {
  while (!leaving.stopped && leaving.grant_count != 0) {
    const granted_range& granted = leaving.grants[0];
    const std::size_t bytes = std::min<std::size_t>(granted.piece, granted.end - leaving.sent);
    transfer_slot& slot = take_slot(transfer_slot::purpose::departure, &leaving, leaving.process);
    const auto post = [&] { return network_->send_payload(leaving.process, leaving.remote_id, {leaving.data + leaving.sent, bytes}, slot); };
    if (!post_to_provider(leaving.process, post)) {
      give_back(slot);
      if (!leaving.blocked.is_linked()) blocked_departures_.push_back(leaving);
      return;
    }
    leaving.sent += bytes;
    ++leaving.in_flight;
    if (leaving.sent != granted.end) continue;
    std::shift_left(leaving.grants.begin(), leaving.grants.end(), 1);
    --leaving.grant_count;
  }
}

bool engine::add_grant(departure& leaving, const grant_body& grant) noexcept {
  const std::size_t before = leaving.grant_count == 0 ? leaving.sent : leaving.grants[leaving.grant_count - 1].end;
  if (grant.piece == 0 || grant.granted <= before || grant.granted > leaving.bytes || leaving.grant_count == pieces_ahead) return false;
  leaving.grants[leaving.grant_count++] = {grant.granted, grant.piece};
  return true;
}

void engine::take_grant(peer& from, const header& h, std::span<const std::byte> body) {
  if (body.size() < sizeof(grant_body)) return lose(from.process, "it sent a grant that is cut short");
  const auto grant = read_part<grant_body>(body, 0);
  if (const auto known = granted_.find(remote_key(from.process, grant.id)); known != granted_.end()) {
    departure& leaving = *known->second;
    if (!add_grant(leaving, grant)) return lose(from.process, "it sent a grant that grants nothing, or too much");
    if (leaving.early_in == nullptr) pump(leaving);  // else its send has not begun
    return;
  }
  departure* leaving = nullptr;
  if (grant.sender_name != 0) {
    leaving = departures_.find(static_cast<std::uint32_t>(grant.sender_name));
    if (leaving != nullptr && leaving->process != from.process) leaving = nullptr;
    if (leaving == nullptr || leaving->stopped) {
      if (leaving != nullptr) remove(*leaving);
      return answer_withdrawn(from, grant.id, 0, failed_alone(h));
    }
  } else {
    room* const here = find_room(h.communicator, h.source);
    if (here == nullptr || (here->owner != nullptr && here->owner->failure != nullptr))
      return answer_withdrawn(from, grant.id, 0, failed_alone(h));
    leaving = &depart(from.process, h.length);
    leaving->fingerprint = h.detail;
    leaving->early_in = here;
    leaving->early_key = {h.destination, h.tag};
    here->early_grants.push(leaving->early_key, *leaving);
  }
  leaving->remote_id = grant.id;
  if (!add_grant(*leaving, grant)) return lose(from.process, "it sent a grant that grants nothing, or too much");
  granted_[remote_key(from.process, grant.id)] = leaving;
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
  if (departure* granted = from.early_grants.front(key)) return attach(*granted, send);
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
  pump(granted);
}

void engine::piece_departed(departure& leaving, bool failed) {
  --leaving.in_flight;
  if (failed) leaving.stopped = true;  // and its receiver is being lost
  if (leaving.stopped) return settle(leaving);
  if (leaving.sent < leaving.bytes || leaving.in_flight != 0) return;
  if (leaving.operation != nullptr) end(*leaving.operation);
  remove(leaving);
}

void engine::settle(departure& stopped) {
  if (stopped.in_flight != 0) return;
  if (stopped.operation != nullptr && stopped.operation->at->failure != nullptr) {
    fail(*stopped.operation, stopped.operation->at->failure);
    stopped.operation = nullptr;
  }
  if (stopped.withdrawn && stopped.operation == nullptr) remove(stopped);
}

void engine::begin_landing(receive_operation& receive, int process, std::size_t bytes, std::uint32_t sender_name, bool early) {
  landing& arriving = landings_.add();
  arriving.process = process;
  arriving.operation = &receive;
  arriving.bytes = bytes;
  arriving.sender_name = sender_name;
  arriving.next_count = 0;
  arriving.posted = arriving.landed = arriving.target = 0;
  arriving.in_flight = 0;
  arriving.active = !early;
  arriving.withdrawing = arriving.last_known = false;
  arriving.told_why = true;
  arriving.doomed = false;
  receive.now = operation::stage::landing;
  receive.transfer_state = &arriving;
  peer& from = *peers_[static_cast<std::size_t>(process)];
  if (early) {
    receive.source = receive.peer;
    receive.received_tag = receive.tag;
    while (arriving.next_count < pieces_ahead && arriving.target < bytes) raise(arriving, next_piece(from));
    return post_pieces(arriving);
  }
  from.waiting.push_back(arriving);
  share_window(from);
}

void engine::note_short_message(peer& passing) noexcept {
  if (passing.window_used != 0) passing.shared_pieces = pieces_after_short_message;
}

std::size_t engine::next_piece(const peer& from) const noexcept {
  if (from.shared_pieces == 0) return settings_.piece;
  return std::min(settings_.piece, std::max(settings_.window / pieces_in_window, shortest_shared_piece));
}

std::size_t engine::window(const peer& from) const noexcept {
  return from.shared_pieces == 0 ? pieces_in_window * settings_.piece : settings_.window;
}

void engine::raise(landing& arriving, std::size_t piece) noexcept {
  const std::size_t bytes = std::min(piece, arriving.bytes - arriving.target);
  arriving.next_pieces[arriving.next_count++] = static_cast<std::uint32_t>(bytes);
  arriving.target += bytes;
}

void engine::share_window(peer& from) {
  while (!from.waiting.empty()) {
    landing& first = from.waiting.front();
    if (first.target == first.bytes || first.next_count + static_cast<std::size_t>(first.in_flight) >= pieces_ahead) {
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
    transfer_slot& slot = take_slot(transfer_slot::purpose::landing, &arriving, arriving.process);
    slot.bytes = bytes;
    const auto post = [&] {
      return network_->receive_payload(arriving.process, arriving.id, {arriving.operation->data + arriving.posted, bytes}, slot);
    };
    if (!post_to_provider(arriving.process, post)) {
      give_back(slot);
      if (!arriving.blocked.is_linked()) blocked_landings_.push_back(arriving);
      break;
    }
    const bool last = arriving.posted + bytes == arriving.bytes;
    if (piece != 0 && bytes != piece && !(last && bytes < piece)) send_grant(arriving, std::exchange(piece, 0));
    if (piece == 0) piece = bytes;
    arriving.posted += bytes;
    ++arriving.in_flight;
    std::shift_left(arriving.next_pieces.begin(), arriving.next_pieces.end(), 1);
    --arriving.next_count;
  }
  if (piece != 0) send_grant(arriving, piece);
}

void engine::send_grant(const landing& arriving, std::uint32_t piece) {
  const receive_operation& receive = *arriving.operation;
  header h = head_for(message_kind::grant, receive);
  h.destination = receive.at->rank;  // source and destination are the message's, not the grant's
  h.source = receive.source;
  h.tag = receive.received_tag;
  h.length = arriving.bytes;
  std::array<std::byte, sizeof(grant_body)> body;
  write_part(body.data(), 0, grant_body{arriving.posted, arriving.sender_name, arriving.id, piece});
  send_control(*peers_[static_cast<std::size_t>(arriving.process)], h, body.data(), body.size());
}

void engine::remove(landing& gone) noexcept {
  peer& from = *peers_[static_cast<std::size_t>(gone.process)];
  if (gone.waiting.is_linked()) from.waiting.erase(from.waiting.iterator_to(gone));
  if (gone.blocked.is_linked()) blocked_landings_.erase(blocked_landings_.iterator_to(gone));
  if (gone.active) from.window_used -= gone.target - gone.landed;
  landings_.remove(gone);
}

void engine::piece_landed(landing& arriving, std::size_t bytes, bool whole) {
  peer& from = *peers_[static_cast<std::size_t>(arriving.process)];
  --arriving.in_flight;
  arriving.landed += bytes;
  if (arriving.active) {
    from.window_used -= bytes;
  } else {
    arriving.active = true;
    from.window_used += arriving.target - arriving.landed;
  }
  if (arriving.withdrawing || !whole) return settle(arriving);
  if (arriving.landed == arriving.bytes) {
    receive_operation& receive = *arriving.operation;
    receive.received = arriving.bytes;
    if (receive.in_mailbox) receive.at->here->messages.remove_posted(receive);
    remove(arriving);
    end(receive);
  } else if (arriving.target < arriving.bytes && !arriving.waiting.is_linked()) {
    from.waiting.push_back(arriving);
  }
  share_window(from);
}

void engine::stop(landing& stopped) noexcept {
  stopped.withdrawing = true;
  peer& from = *peers_[static_cast<std::size_t>(stopped.process)];
  if (stopped.waiting.is_linked()) from.waiting.erase(from.waiting.iterator_to(stopped));
  if (stopped.blocked.is_linked()) blocked_landings_.erase(blocked_landings_.iterator_to(stopped));
  receive_operation& receive = *stopped.operation;
  if (receive.in_mailbox) receive.at->here->messages.remove_posted(receive);
}

void engine::withdraw(landing& arriving) {
  const bool first = !arriving.withdrawing;
  stop(arriving);
  peer& from = *peers_[static_cast<std::size_t>(arriving.process)];
  if (from.lost) {
    if (arriving.doomed) return settle(arriving);
    arriving.doomed = arriving.last_known = true;
    doomed_.push_back({true, arriving.id, steady_clock_source().now() + doomed_time});
    cancel_pieces(arriving);
  } else if (arriving.posted == 0) {
    arriving.last_known = true;  // the sender has no grant, so nothing comes
    if (first && arriving.sender_name != 0) answer_dropped(arriving.process, arriving.sender_name);
    cancel_pieces(arriving);
  } else if (first) {
    header h = head_for(message_kind::withdraw, *arriving.operation);
    h.detail = arriving.id;
    send_control(from, h);
  }
  settle(arriving);
}

void engine::cancel_pieces(landing& withdrawn) {
  for (transfer_slot& slot : flying_)
    if (slot.owner == &withdrawn) network_->cancel(slot);
}

void engine::settle(landing& withdrawn) {
  if (!withdrawn.withdrawing || !withdrawn.last_known || withdrawn.in_flight != 0) return;
  receive_operation& receive = *withdrawn.operation;
  if (receive.at->failure == nullptr && withdrawn.told_why) return;  // the reason is on its way
  remove(withdrawn);
  if (receive.at->failure != nullptr) return fail(receive, receive.at->failure);
  fail(receive, std::make_exception_ptr(error(errc::operation_failed, "rank " + std::to_string(receive.source) + " of communicator " +
                                                                          std::to_string(receive.at->members->communicator) + " gave up the message that it was sending")));
}

void engine::take_refusal(const header& h) {
  departure* leaving = departures_.find(static_cast<std::uint32_t>(h.detail));
  if (leaving == nullptr || leaving->process != static_cast<int>(h.process) || leaving->remote_id != 0) return;
  if (send_operation* send = leaving->operation)
    fail(*send, std::make_exception_ptr(error(errc::truncated, "send on rank " + std::to_string(send->at->rank) + " to rank " + std::to_string(send->peer) +
                                                                   " of communicator " + std::to_string(send->at->members->communicator) + ": the message has " +
                                                                   std::to_string(send->bytes) + " bytes, the receiver's buffer " + std::to_string(h.length))));
  remove(*leaving);
}

void engine::answer_withdrawn(peer& to, std::uint32_t id, std::uint64_t sent, bool alone) {
  header h;
  h.kind = message_kind::withdrawn;
  h.source = alone ? 1 : 0;
  h.detail = id;
  h.length = sent;
  send_control(to, h);
}

void engine::answer_dropped(int process, std::uint64_t sender_name) {
  header h;
  h.kind = message_kind::dropped;
  h.detail = sender_name;
  send_control(*peers_[static_cast<std::size_t>(process)], h);
}

void engine::take_dropped(const header& h) {
  departure* leaving = departures_.find(static_cast<std::uint32_t>(h.detail));
  if (leaving == nullptr || leaving->process != static_cast<int>(h.process) || leaving->remote_id != 0) return;
  if (leaving->operation != nullptr) end(*leaving->operation);  // as a short message to that rank would have
  remove(*leaving);
}

void engine::take_withdrawal(peer& from, const header& h) {
  const auto id = static_cast<std::uint32_t>(h.detail);
  const auto known = granted_.find(remote_key(from.process, id));
  if (known == granted_.end()) return answer_withdrawn(from, id, ~std::uint64_t{0}, false);  // all of it has been sent
  departure& leaving = *known->second;
  answer_withdrawn(from, id, leaving.sent, false);
  leaving.stopped = leaving.withdrawn = true;
  settle(leaving);
}

void engine::take_withdrawn(peer& from, const header& h) {
  landing* withdrawn = landings_.find(static_cast<std::uint32_t>(h.detail));
  if (withdrawn == nullptr || withdrawn->process != from.process || withdrawn->last_known) return;
  if (!withdrawn->withdrawing) {  // the sender gave up first
    stop(*withdrawn);
    withdrawn->told_why = h.source == 0;
  }
  withdrawn->last_known = true;
  withdrawn->last = std::min<std::size_t>(h.length, withdrawn->bytes);
  // What has been sent lands; pieces land in order, so the others are the last ones posted.
  std::size_t beyond = withdrawn->posted - std::min(withdrawn->last, withdrawn->posted);
  for (auto slot = flying_.rbegin(); slot != flying_.rend() && beyond != 0; ++slot) {
    if (slot->owner != withdrawn) continue;
    beyond -= std::min(beyond, slot->bytes);
    network_->cancel(*slot);
  }
  settle(*withdrawn);
}

void engine::retry_payloads() {
  auto departures = std::move(blocked_departures_);
  while (!departures.empty()) {
    departure& first = departures.front();
    departures.pop_front();
    pump(first);
  }
  auto arriving = std::move(blocked_landings_);
  while (!arriving.empty()) {
    landing& first = arriving.front();
    arriving.pop_front();
    post_pieces(first);
  }
}

void engine::doom_payloads(int process) {
  // Receives from it that a broken communicator has withdrawn already wait for an answer, or for pieces, that will not come.
  landings_.for_each([&](landing& each) {
    if (each.process == process && each.withdrawing) withdraw(each);
  });
  departures_.for_each([&](departure& each) {
    if (each.process != process) return;
    each.stopped = each.withdrawn = true;
    if (each.in_flight != 0) doomed_.push_back({false, each.id, steady_clock_source().now() + doomed_time});
    settle(each);
  });
}

void engine::give_up_doomed() {
  const auto now = steady_clock_source().now();
  const auto disown = [this](const void* owner) {
    for (transfer_slot& slot : flying_)
      if (slot.owner == owner) slot.owner = nullptr;
  };
  std::erase_if(doomed_, [&](const doomed_payload& each) {
    landing* const arriving = each.arriving ? landings_.find(each.id) : nullptr;
    departure* const leaving = each.arriving ? nullptr : departures_.find(each.id);
    if (arriving == nullptr && leaving == nullptr) return true;
    if (now < each.until) return false;
    if (arriving != nullptr) {
      // Its sender is dead and everything that it had sent has been read: nothing can come into this memory any more.
      disown(arriving);
      arriving->in_flight = 0;
      settle(*arriving);
    } else {
      // What the provider still reads goes nowhere.
      disown(leaving);
      leaving->in_flight = 0;
      if (leaving->kept != nullptr) {
        abandoned_.push_back(std::move(leaving->kept));
        buffered_ -= leaving->bytes;
      }
      settle(*leaving);
    }
    return true;
  });
}

}  // namespace weft::fabric
