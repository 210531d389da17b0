// SPDX-License-Identifier: Apache-2.0
// Records on their way into messages.
#include <algorithm>
#include <cstring>
#include <utility>
#include <weft/calls/time_out.hpp>
#include <weft/runtime/copy_bytes.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/patience.hpp>
#include <weft/runtime/time_limit.hpp>

#include "window_operations.hpp"

namespace weft::detail {
namespace {

/// A message is as long as always goes without asking, but has room for the contents of any record that has some.
constexpr std::size_t least_capacity = 256;
/// Messages of one rank that are being filled or on their way.
constexpr std::size_t most_messages = 64;
/// Long puts, and gets, of one rank at another that have not ended: what is done for one takes longer the more there
/// are.
constexpr std::size_t most_open = 256;

}  // namespace

window_messages::window_messages(communicator_state& own, const served& mine)
    : own_(own),
      mine_(mine),
      capacity_(std::max(own.host.settings().eager_limit / 8 * 8, least_capacity)),
      pump_(std::make_unique<pump>(*this)),
      standing_(std::make_unique<standing>(*this)),
      peers_(static_cast<std::size_t>(own.size())) {}

window_messages::~window_messages() {
  for (const auto& each : peers_)
    if (each != nullptr) delete each->filling;
}

void window_messages::serve() {
  in_flight_.fetch_add(1);
  own_.host.messages().post(*standing_);
}

void window_messages::stop() noexcept {
  stops_.store(true);
  own_.host.messages().cancel(*standing_);  // else a message has met it, and then it is not posted again
  await_end();
}

void window_messages::await_end() noexcept {
  pump_->ask();  // who queued something may have thrown before it did
  look_for(own_.host.moved_by(), [&] { return in_flight_.load() == 0 && !pump_->is_asked(); });
  own_.host.messages().while_held([] {});  // who has told so is behind it
}

window_messages::peer& window_messages::peer_of(int rank) {
  auto& found = peers_[static_cast<std::size_t>(rank)];
  if (found == nullptr) found = std::make_unique<peer>();
  return *found;
}

bool window_messages::has_room(const peer& to, std::size_t contents) const noexcept {
  return to.filling != nullptr && capacity_ - to.filling->bytes >= sizeof(record) + padded(contents);
}

std::unique_ptr<window_messages::message> window_messages::take_message(int rank) {
  std::unique_ptr<message> taken;
  if (at_rest_.empty()) {
    at_rest_.reserve(in_use_.load() + at_rest_.size() + 1);
    taken = std::make_unique<message>(*this);
  } else {
    taken = std::move(at_rest_.back());
    at_rest_.pop_back();
  }
  in_use_.fetch_add(1);
  taken->peer = rank;
  taken->bytes = 0;
  return taken;
}

std::unique_lock<std::mutex> window_messages::room(const char* operation, int rank, std::size_t contents, bool opens) {
  for (;;) {
    std::unique_lock lock(guard_);
    if (failure_ != nullptr) {
      lock.unlock();
      throw_failure(operation);
    }
    queued_.reserve(queued_.size() + 2);  // of what queue() adds until the guard goes
    peer& to = peer_of(rank);
    const bool too_many = opens && to.open.load() >= most_open;
    if (!too_many && has_room(to, contents)) return lock;
    if (to.filling != nullptr) {
      close(to);
      queued_.reserve(queued_.size() + 2);
    }
    if (!too_many && in_use_.load() < most_messages) {
      to.filling = take_message(rank).release();
      return lock;
    }
    // All that there may be can be with other ranks, half full.
    queued_.reserve(queued_.size() + peers_.size());
    for (const auto& each : peers_)
      if (each != nullptr) close(*each);
    send(std::move(lock));
    await(operation, rank, [&] {
      return has_failed_.load() || (in_use_.load() < most_messages && (!opens || open_at(rank) < most_open));
    });
  }
}

void window_messages::write(peer& to, const record& what, std::span<const std::byte> contents,
                            std::span<const std::byte> more) noexcept {
  record whole = what;
  whole.bytes = static_cast<std::uint32_t>(contents.size() + more.size());
  std::byte* at = to.filling->end();
  std::memcpy(at, &whole, sizeof whole);
  at += sizeof whole;
  copy_bytes(at, contents.data(), contents.size());
  copy_bytes(at + contents.size(), more.data(), more.size());
  to.filling->bytes += sizeof whole + padded(whole.bytes);
  const bool is_answered = what.what == kind::fetch || what.what == kind::compare || what.what == kind::lock;
  if (what.what != kind::answer && what.what != kind::flush && !is_answered) ++to.written;
}

void window_messages::close(peer& to) noexcept {
  if (to.filling == nullptr || to.filling->bytes == 0) return;
  queue(*to.filling);
  to.filling = nullptr;
  to.announced = 0;
}

void window_messages::queue(fabric::operation& next) noexcept {
  in_flight_.fetch_add(1);
  queued_.push_back(&next);
}

std::uint64_t window_messages::expect_answer(const awaited_answer& of) {
  const std::uint64_t number = next_number_++;
  answers_.emplace(number, of);
  return number;
}

void window_messages::send(std::unique_lock<std::mutex> held) {
  const bool any = !queued_.empty();
  held.unlock();
  if (any) pump_->ask();
}

void window_messages::append(int rank, const record& what, std::span<const std::byte> contents) {
  queued_.reserve(queued_.size() + 1);
  peer& to = peer_of(rank);
  if (!has_room(to, contents.size())) {
    close(to);
    to.filling = take_message(rank).release();
  }
  write(to, what, contents);
}

void window_messages::throw_failure(const char* operation) {
  await_none_open();
  const auto found = [&] {
    const std::lock_guard lock(guard_);
    return failure_;
  };
  rethrow(own_, operation, found());
}

void window_messages::await(const char* operation, int rank, const std::function<bool()>& is_so) {
  const time_limit* const limit = time_limit::current();
  progress& by = own_.host.moved_by();
  if (!look_for(by, is_so, [&] { return limit != nullptr && by.time().now() >= limit->when(); }))
    throw_timed_out(where(own_, operation), {rank});
}

}  // namespace weft::detail
