#include "engine.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <weft/runtime/error.hpp>

namespace weft::fabric {
namespace {

/// A look at the clock for so many polls.
constexpr std::uint32_t polls_between_looks = 256;

/// So many communicators can be owed a failure at a time; with more all of them fail.
constexpr std::size_t most_owed = 64;

}  // namespace
engine::engine(std::unique_ptr<transport> network, messenger_settings settings)
    : network_(std::move(network)), settings_(std::move(settings)) {
  const transport_limits& limits = network_->limits();
  frame_limit_ = std::min(limits.frame, sizeof(header) + settings_.eager_limit);
  frame_limit_ = std::max(frame_limit_, sizeof(header) + 64);
  inject_limit_ = std::min(limits.inject, frame_limit_);
  settings_.eager_limit = frame_limit_ - sizeof(header);
  settings_.piece = std::min({settings_.piece, limits.payload, std::size_t{1} << 31});
  for (std::size_t i = 0; i < settings_.first_rank.size(); ++i) {
    peers_.push_back(std::make_unique<peer>());
    peers_.back()->process = static_cast<int>(i);
  }
  unflushed_.reserve(peers_.size());
  owed_.reserve(most_owed);
}

engine::~engine() {
  ended_.clear();
  blocked_departures_.clear();
  blocked_landings_.clear();
  for (auto& each : peers_) each->waiting.clear();
  network_.reset();  // ends every transfer before what it belongs to goes away
  for (auto& [key, each] : rooms_)
    if (each->owner != nullptr) each->owner->active.clear();
  rooms_.clear();
  flying_.clear();
}

bool engine::poll() {
  if (!token_.try_acquire()) return false;
  const struct release_at_end {
    token& held;
    ~release_at_end() { held.release(); }
  } release{token_};
  take_submissions();
  std::size_t events = 0;
  try {
    events = network_->poll(*this);
    if (!unflushed_.empty()) flush_all();
    if (!blocked_departures_.empty() || !blocked_landings_.empty()) retry_payloads();
    if (any_doomed_) give_up_doomed();
    if (frames_dropped_) check_sequences();
    if (in_flight_ != 0 && ++polls_ % polls_between_looks == 0) inquire_now_and_then();
  } catch (...) {
    break_everything(std::current_exception());
  }
  finish_ended();
  return events != 0;
}

void engine::submit(operation& begun) noexcept {
  operation* last = submitted_.load(std::memory_order_relaxed);
  do {
    begun.next_submitted = last;
    // release: pairs with the acquire exchange in take_submissions, so that the operation's contents are visible there.
  } while (!submitted_.compare_exchange_weak(last, &begun, std::memory_order_release, std::memory_order_relaxed));
}

void engine::call_later(std::function<void()> function) {
  const std::lock_guard lock(calls_lock_);
  calls_.push_back(std::move(function));
  calls_waiting_.store(true, std::memory_order_release);  // what it announces is guarded by the lock
}

bool engine::quiet() const noexcept {
  // relaxed: a stale answer costs the progress thread one sleep, which `progress::notify` ends.
  return !busy_.load(std::memory_order_relaxed) && submitted_.load(std::memory_order_relaxed) == nullptr &&
         !calls_waiting_.load(std::memory_order_relaxed);
}

void engine::take_submissions() noexcept {
  // The relaxed look saves the exchange; what it misses the next poll sees.
  if (submitted_.load(std::memory_order_relaxed) != nullptr) {
    operation* last = submitted_.exchange(nullptr, std::memory_order_acquire);
    operation* first = nullptr;
    while (last != nullptr) {
      operation* earlier = last->next_submitted;
      last->next_submitted = first;
      first = last;
      last = earlier;
    }
    while (first != nullptr) {
      operation& begun = *first;
      first = first->next_submitted;
      begin(begun);
    }
  }
  if (calls_waiting_.load(std::memory_order_acquire)) run_calls();
}

void engine::run_calls() noexcept {
  if (running_calls_.empty()) {
    const std::lock_guard lock(calls_lock_);
    running_calls_.swap(calls_);
    std::ranges::reverse(running_calls_);
  }
  try {
    for (; !running_calls_.empty(); running_calls_.pop_back()) running_calls_.back()();
  } catch (...) {
    return;  // no memory: again when it is polled next
  }
  const std::lock_guard lock(calls_lock_);
  calls_waiting_.store(!calls_.empty(), std::memory_order_relaxed);  // under the lock
}

void engine::finish_ended() noexcept {
  bool left_over = false;
  while (troubled_ || !ended_.empty()) {
    if (std::exchange(troubled_, false)) left_over = !face_troubles();
    if (ended_.empty()) continue;
    operation& first = ended_.front();
    ended_.pop_front();
    first.now = operation::stage::idle;
    first.finished();
  }
  troubled_ = left_over;
  const bool busy = in_flight_ != 0 || buffered_ != 0 || !flying_.empty() || !unflushed_.empty() || troubled_;
  // relaxed: see quiet().
  if (busy != busy_.load(std::memory_order_relaxed)) busy_.store(busy, std::memory_order_relaxed);
}

void engine::end(operation& ended) noexcept {
  operation& o = ended;
  o.now = operation::stage::ended;
  o.transfer_state = nullptr;
  o.at->active.erase(o.at->active.iterator_to(o));
  --in_flight_;
  ended_.push_back(o);
}

void engine::fail(operation& failed, std::exception_ptr failure) noexcept {
  failed.failure = std::move(failure);
  end(failed);
  participant& member = *failed.at;
  if (!failed.collective || member.failure != nullptr) return;
  // Without its part the others' parts of a collective would wait for ever.
  try {
    std::string why = "unknown error";
    try {
      std::rethrow_exception(failed.failure);
    } catch (const std::exception& e) {
      why = e.what();
    } catch (...) {
    }
    break_communicator(member.members->communicator, errc::operation_failed,
                       "a collective failed on rank " + std::to_string(member.rank) + ": " + why, true);
  } catch (...) {
    owe_break(member.members->communicator, failed.failure);
  }
}

void engine::begin(operation& begun) noexcept {
  participant& member = *begun.at;
  begun.failure = nullptr;
  begun.transfer_state = nullptr;
  member.active.push_back(begun);
  ++in_flight_;
  begun.inquiries = 0;
  if (member.failure != nullptr) return fail(begun, member.failure);
  try {
    if (begun.collective) note_collective(begun);
    if (begun.now == operation::stage::ended) return;
    if (begun.is_send)
      begin_send(static_cast<send_operation&>(begun));
    else
      begin_receive(static_cast<receive_operation&>(begun));
  } catch (...) {
    if (begun.now != operation::stage::ended) cancel(begun, std::current_exception());
  }
}

void engine::begin_send(send_operation& send) {
  const int process = send.at->members->process[static_cast<std::size_t>(send.peer)];
  if (process == settings_.process) return send_home(send);
  peer& to = *peers_[static_cast<std::size_t>(process)];
  if (to.lost) return fail(send, lost_error(process));
  if (send.bytes <= settings_.eager_limit) {
    if (send.poisoned != nullptr) [[unlikely]]
      return send_poisoned(to, send);
    return send_eager(to, send);
  }
  if (send.collective) return begin_collective_departure(send, *send.at->here);
  departure& leaving = depart(process, send.bytes);
  leaving.operation = &send;
  leaving.data = send.data;
  send.now = operation::stage::waiting_for_grant;
  send.transfer_state = &leaving;
  send_envelope(to, leaving, head_for(message_kind::envelope, send));
}

void engine::begin_receive(receive_operation& receive) {
  room& here = *receive.at->here;
  if (auto message = here.messages.take_unexpected(receive)) return consume(receive, std::move(message));
  here.messages.add_posted(receive);
  receive.now = operation::stage::posted;
  if (!receive.collective || receive.bytes <= settings_.eager_limit) return;
  // A long message of a collective comes without an envelope: it is granted now. The receive stays posted too, so that
  // a sender that takes it for a short one is found out.
  const int process = receive.at->members->process[static_cast<std::size_t>(receive.peer)];
  if (process != settings_.process) begin_landing(receive, process, receive.bytes, 0, true);
}

void engine::send_home(send_operation& send) {
  const auto& members = *send.at->members;
  room* const found = find_room(key_of(members, send.peer));
  if (found == nullptr) return end(send);
  room& there = *found;
  if (send.collective && disagrees(there, send.tag, send.fingerprint, send.at->rank)) return;
  if (receive_operation* receive = there.messages.take_posted(send.at->rank, send.tag, send.collective)) {
    if (send.collective && !agrees(*receive, send.at->rank, send.fingerprint)) return;
    if (!fits(*receive, send.at->rank, send.bytes)) return fail_with(send, *receive);
    if (send.poisoned != nullptr) [[unlikely]]
      end_poisoned(*receive, send.poisoned);
    else
      deliver(*receive, send.at->rank, send.tag, send.data, send.bytes);
    return end(send);
  }
  auto message = std::make_unique<unexpected_message>();
  message->source = send.at->rank;
  message->tag = send.tag;
  message->collective = send.collective;
  message->fingerprint = send.fingerprint;
  message->bytes = send.bytes;
  message->process = settings_.process;
  if (send.poisoned != nullptr) [[unlikely]]
    message->poisoned = send.poisoned;
  peer& home = *peers_[static_cast<std::size_t>(settings_.process)];
  const bool copied = send.poisoned != nullptr ||
                      (send.bytes <= settings_.eager_limit &&
                       home.stored + send.bytes <= settings_.unexpected_limit + settings_.send_buffer_limit);
  if (copied && send.bytes != 0 && send.poisoned == nullptr) {
    message->data = std::make_unique_for_overwrite<std::byte[]>(send.bytes);
    std::memcpy(message->data.get(), send.data, send.bytes);
  }
  unexpected_message& waiting = *message;
  if (!copied) {
    waiting.announced = true;
    waiting.at_home = &send;
  }
  there.messages.add_unexpected(std::move(message));
  if (copied) {
    note_stored(settings_.process, static_cast<std::ptrdiff_t>(waiting.cost()));
    return end(send);
  }
  send.now = operation::stage::waiting_at_home;
  send.transfer_state = &waiting;
}

void engine::deliver(receive_operation& receive, int source, std::uint64_t tag, const std::byte* message,
                     std::size_t bytes) noexcept {
  if (bytes != 0) std::memcpy(receive.data, message, bytes);
  receive.source = source;
  receive.received_tag = tag;
  receive.received = bytes;
  end(receive);
}

void engine::fail_with(send_operation& send, const receive_operation& receive) noexcept {
  if (send.now != operation::stage::ended)
    fail(send, receive.failure);  // else the communicator has failed with the receive
}

void engine::consume(receive_operation& receive, std::unique_ptr<unexpected_message> message) {
  note_stored(message->process, -static_cast<std::ptrdiff_t>(message->cost()));
  if (message->at_home != nullptr) message->at_home->transfer_state = nullptr;  // no longer in the mailbox
  if (message->collective && !agrees(receive, message->source, message->fingerprint)) return;
  if (!fits(receive, message->source, message->bytes)) {
    if (message->at_home != nullptr) return fail_with(*message->at_home, receive);
    if (!message->announced) return;
    header h = head_for(message_kind::refuse, receive);
    h.length = receive.bytes;
    h.detail = message->sender_name;
    return send_control(*peers_[static_cast<std::size_t>(message->process)], h);
  }
  if (message->poisoned != nullptr) return end_poisoned(receive, message->poisoned);
  if (message->at_home != nullptr) {
    deliver(receive, message->source, message->tag, message->at_home->data, message->bytes);
    return end(*message->at_home);
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

void engine::join(participant& member) {
  const auto& members = *member.members;
  const room_key key = key_of(members, member.rank);
  room* const found = find_room(key);
  if (found == nullptr)
    throw error(errc::invalid_argument, "weft: a rank joins communicator " + std::to_string(members.communicator) +
                                            ", which it has left, after a later one of the same leader or before");
  history_.join(key);
  room& here = *found;
  here.owner = &member;
  member.here = &here;
  if (const auto* failure = history_.failure_of(members.communicator)) member.failure = *failure;
  for (const std::int32_t process : members.process)
    if (member.failure == nullptr && peers_[static_cast<std::size_t>(process)]->lost)
      member.failure = lost_error(process);
}

void engine::leave(participant& member) {
  const room_key key = key_of(*member.members, member.rank);
  room& here = *member.here;
  while (auto message = here.messages.take_any_unexpected()) {
    note_stored(message->process, -static_cast<std::ptrdiff_t>(message->cost()));
    if (message->at_home != nullptr)
      end(*message->at_home);  // nobody will ever take it
    else if (message->announced)
      answer_dropped(message->process, message->sender_name);
  }
  const bool alone = member.failure == nullptr || member.failed_alone;
  if (!alone) history_.leave_failed(key);
  drop_early_grants(here, alone);
  rooms_.erase(key);
  last_room_ = nullptr;
  member.here = nullptr;
}

room* engine::find_room(const room_key& key) {
  if (last_room_ != nullptr && last_key_ == key) return last_room_;
  auto found = rooms_.find(key);
  if (found == rooms_.end()) {
    if (history_.has_passed(key)) return nullptr;
    found = rooms_.emplace(key, std::make_unique<room>()).first;
  }
  last_key_ = key;
  last_room_ = found->second.get();
  return last_room_;
}

bool engine::fits(receive_operation& receive, int source, std::size_t bytes) {
  const bool right = receive.collective ? bytes == receive.bytes : bytes <= receive.bytes;
  if (right) return true;
  // Granted as a long message, sent as a short one: ends as every receive of a communicator that fails.
  if (receive.now == operation::stage::landing)
    return report_mismatch(*receive.at, receive.fingerprint, source, receive.fingerprint), false;
  fail(receive, std::make_exception_ptr(error(
                    errc::truncated,
                    "receive on rank " + std::to_string(receive.at->rank) + " from rank " + std::to_string(source) +
                        " of communicator " + std::to_string(receive.at->members->communicator) + ": the message has " +
                        std::to_string(bytes) + " bytes, the buffer " + std::to_string(receive.bytes))));
  return false;
}

bool engine::agrees(receive_operation& receive, int source, std::uint64_t fingerprint) {
  if (receive.fingerprint == fingerprint) return true;
  report_mismatch(*receive.at, receive.fingerprint, source, fingerprint);
  return false;
}

}  // namespace weft::fabric
