// SPDX-License-Identifier: Apache-2.0
#include "engine.hpp"

#include <algorithm>
#include <utility>
#include <weft/runtime/error.hpp>

namespace weft::fabric {
namespace {

/// A look at the clock for so many polls.
constexpr std::uint32_t polls_between_looks = 256;

}  // namespace

engine::engine(std::unique_ptr<transport> network, messenger_settings settings)
    : network_(std::move(network)),
      settings_(std::move(settings)),
      slots_(settings_.memory),
      troubles_(*settings_.time),
      messages_(settings_.memory),
      flow_(*network_, settings_, slots_, operations_, departures_, troubles_, counts_),
      agreements_(settings_, flow_, rooms_, troubles_) {}

engine::~engine() {
  blocked_departures_.clear();
  blocked_landings_.clear();
  for (auto& each : flow_.peers()) {
    each->waiting.clear();
    each->next.clear();
  }
  network_.reset();  // ends every transfer before what it belongs to goes away
}

bool engine::poll() {
  if (!token_.try_acquire()) return false;
  const struct release_at_end {
    token& held;
    ~release_at_end() { held.release(); }
  } release{token_};
  flow_.begin_poll();
  std::size_t events = take_submissions() ? 1 : 0;
  try {
    events += network_->poll(*this);
    flow_.end_poll();
    if (!flow_.flushed()) flow_.flush();
    if (!blocked_departures_.empty() || !blocked_landings_.empty()) retry_payloads();
    if (any_orphans_) give_up_orphans();
    if (flow_.any_dropped()) flow_.check_sequences();
    if ((operations_.in_flight() != 0 || any_probes_ || agreements_.any()) &&
        (++polls_ % polls_between_looks == 0 || look_soon_.load(std::memory_order_relaxed))) {
      look_soon_.store(false, std::memory_order_relaxed);  // relaxed: it hands nothing over
      inquire_now_and_then();
    }
  } catch (...) {
    flow_.end_poll();
    break_everything(std::current_exception());
  }
  finish_ended();
  if (events == 0) return false;
  // relaxed: it is only compared. Not lost, since the token is held.
  events_.store(events_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  return true;
}

void engine::flush() noexcept try { flow_.flush(); } catch (...) {
  break_everything(std::current_exception());
}

void operation::begin(engine& by) noexcept { by.begin(*this); }

bool engine::quiet() const noexcept {
  // relaxed: a stale answer costs the progress thread one sleep, which `progress::notify` ends.
  return !busy_.load(std::memory_order_relaxed) && submissions_.empty();
}

bool engine::needs_polls() const noexcept {
  return slots_.sends() != 0 || !flow_.flushed() || troubles_.any() || any_orphans_ || flow_.any_dropped() ||
         !blocked_departures_.empty() || !blocked_landings_.empty();
}

bool engine::rings() const noexcept {
  const bool alone = flow_.peers().size() == 1;
  // relaxed: a stale answer costs one long sleep; whoever posts something waits for it, or notifies.
  return !needs_polls_.load(std::memory_order_relaxed) && submissions_.empty() && (alone || flow_.bell().works());
}

void engine::listen() noexcept {
  look_soon_.store(true, std::memory_order_relaxed);  // relaxed: nothing is handed over
  flow_.bell().listen();
}

bool engine::take_all_submissions() noexcept {
  submission* first = submissions_.take();
  const bool any = first != nullptr;
  while (first != nullptr) {
    submission& begun = *first;
    first = first->next_submitted;
    begun.begin(*this);
  }
  return submissions_.run_calls() || any;
}

void engine::tell_ended() noexcept {
  bool left_over = false;
  while (troubles_.any() || !operations_.empty()) {
    if (troubles_.take()) left_over = !face_troubles();
    if (!operations_.empty()) operations_.tell_first();
  }
  if (left_over) troubles_.keep();
}

/// Whether polling can do anything, and whether something goes on only by it.
void engine::note_needs() noexcept {
  const bool busy = operations_.in_flight() != 0 || agreements_.any() || flow_.buffered() != 0 ||
                    !slots_.flying().empty() || !flow_.flushed() || troubles_.any();
  // relaxed: see quiet().
  if (busy != busy_.load(std::memory_order_relaxed)) busy_.store(busy, std::memory_order_relaxed);
  const bool polls = needs_polls();
  if (polls != needs_polls_.load(std::memory_order_relaxed)) needs_polls_.store(polls, std::memory_order_relaxed);
}

void engine::fail(operation& failed, std::exception_ptr failure) noexcept {
  failed.failure = std::move(failure);
  operations_.end(failed);
  participant& member = *failed.at;
  if (!failed.collective || failed.ahead || member.failure != nullptr) return;
  // Without its part the others' parts of a collective would wait for ever.
  try {
    break_communicator(member, failed.failure);
  } catch (...) {
    troubles_.owe_break(member.members->communicator, failed.failure);
  }
}

void engine::begin(operation& begun) noexcept {
  participant& member = *begun.at;
  operations_.begin(begun);
  if (member.failure != nullptr) {
    if (!begun.is_send) discard(member, static_cast<receive_operation&>(begun).aside);
    return fail(begun, member.failure);
  }
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
  if (process == settings_.process) {
    counts_.at_once[message_counts::own_process].add(send.bytes);
    return send_home(send);
  }
  peer& to = flow_.to(process);
  if (to.lost) return fail(send, lost_error(process));
  const bool at_once = send.collective
                           ? goes_at_once(to, send.bytes, send.vector)
                           : !send.synchronous && (send.bytes <= to.eager || flow_.may_go_alone(to, send.bytes));
  (at_once ? counts_.at_once : counts_.granted)[to.road].add(send.bytes);
  if (at_once || !settings_.prepost) {
    if (send.poisoned != nullptr) [[unlikely]]
      return send_poisoned(to, send);
  }
  if (at_once) return flow_.send_eager(to, send);
  if (send.collective && settings_.prepost) return begin_collective_departure(send, *send.at->here);
  departure& leaving = depart(departures_, process, send.bytes);
  leaving.operation = &send;
  leaving.data = send.data;
  send.now = operation::stage::waiting_for_grant;
  send.transfer_state = &leaving;
  flow_.send_envelope(to, leaving, flow_.head_for(message_kind::envelope, send));
}

bool engine::send_now(participant& by, int peer, std::uint64_t tag, std::span<const std::byte> data) noexcept {
  const int process = by.members->process[static_cast<std::size_t>(peer)];
  fabric::peer& to = flow_.to(process);
  if (to.road != message_counts::node_memory || data.size() > to.eager || by.failure != nullptr) return false;
  const room_key key = key_of(*by.members, peer);
  if (!flow_.put_message(to, {key.communicator, tag}, {by.rank, key.rank}, data)) return false;
  counts_.at_once[message_counts::node_memory].add(data.size());
  by.count_move();
  return true;
}

void engine::begin_receive(receive_operation& receive) {
  if (receive.aside != 0) return consume_aside(receive);
  room& here = *receive.at->here;
  if (here.messages.has_unexpected(receive.collective))
    if (auto message = here.messages.take_unexpected(receive)) return consume(receive, std::move(message));
  here.messages.add_posted(receive);
  receive.now = operation::stage::posted;
  if (!receive.collective || !settings_.prepost) return;
  // A long message of a collective comes without an envelope: it is granted now. The receive stays posted too, so that
  // a sender that takes it for a short one is found out.
  const int process = receive.at->members->process[static_cast<std::size_t>(receive.peer)];
  if (process != settings_.process && !goes_at_once(flow_.to(process), receive.bytes, receive.vector))
    begin_landing(receive, process, receive.bytes, 0, true);
}

}  // namespace weft::fabric
