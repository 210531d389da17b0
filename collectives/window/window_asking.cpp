// SPDX-License-Identifier: Apache-2.0
// What a rank asks of others.
#include <algorithm>
#include <deque>
#include <utility>
#include <weft/calls/time_out.hpp>
#include <weft/calls/traced_call.hpp>
#include <weft/runtime/patience.hpp>
#include <weft/runtime/time_limit.hpp>

#include "window_operations.hpp"

namespace weft::detail {
namespace {

/// Puts fill messages to their end, but by no less than so many bytes. Those that take more messages than this go by
/// themselves: between two hosts over libfabric's net, puts of 16 KiB took 32 us so, and 42 by themselves.
constexpr std::size_t least_part = 128;
constexpr std::size_t most_messages_of_a_put = 2;
/// Records of long puts in a message.
constexpr std::size_t most_announced = 8;

}  // namespace

/// A question, until it is answered or this goes.
class window_messages::asking {
 public:
  asking(window_messages& of, const char* operation, int rank) noexcept : of_(of), operation_(operation), rank_(rank) {}
  asking(const asking&) = delete;
  asking& operator=(const asking&) = delete;
  ~asking() { give_up(); }

  void begin(record what, std::span<const std::byte> contents, std::span<const std::byte> more,
             std::span<std::byte> into) {
    auto lock = of_.room(operation_, rank_, contents.size() + more.size());
    peer& to = of_.peer_of(rank_);
    if (what.what == kind::flush) flushes_ = to.written;
    if (what.what == kind::lock) asks_for_ = mode_of(what);
    what.number = number_ = of_.expect_answer({rank_, into.data(), into.size(), &done_});
    of_.write(to, what, contents, more);
    of_.close(to);
    of_.send(std::move(lock));
  }
  void await() {
    progress& by = of_.own_.host.moved_by();
    if (!done_.ready()) {
      const traced_wait traced(of_.own_, rank_);
      const time_limit* const limit = time_limit::current();
      if (limit == nullptr)
        done_.wait(by);
      else if (!done_.wait_until(by, limit->when()) && give_up())  // else the answer has come since
        throw_timed_out(where(of_.own_, operation_), {rank_});
    }
    if (of_.has_failed_.load()) of_.throw_failure(operation_);
    if (flushes_ == 0) return;
    const std::lock_guard lock(of_.guard_);
    peer& to = of_.peer_of(rank_);
    to.flushed = std::max(to.flushed, flushes_);
  }

 private:
  /// A lock that comes later is given back. False: there is an answer.
  bool give_up() noexcept {
    if (number_ == 0) return true;
    const std::lock_guard lock(of_.guard_);  // who answers sets the event under it
    const auto unanswered = of_.answers_.find(number_);
    if (unanswered == of_.answers_.end()) return false;
    if (asks_for_)
      unanswered->second = {.rank = rank_, .bytes = 1, .given_up = asks_for_};
    else
      of_.answers_.erase(unanswered);
    number_ = 0;
    return true;
  }

  window_messages& of_;
  const char* const operation_;
  const int rank_;
  std::uint64_t number_ = 0;
  std::optional<lock_mode> asks_for_;
  std::uint64_t flushes_ = 0;
  event done_;
};

void window_messages::put(int rank, std::size_t offset, std::span<const std::byte> data) {
  const std::size_t element = mine_.type.bytes;
  if (data.size() > most_messages_of_a_put * capacity_ || (element > least_part && !data.empty()))
    return put_long(rank, offset, data);
  while (!data.empty()) {
    auto lock = room("put", rank, std::min(data.size(), least_part));
    peer& to = peer_of(rank);
    const std::size_t most = (capacity_ - to.filling->bytes - sizeof(record)) / element * element;
    const auto some = data.first(std::min(most, data.size()));
    record what{kind::put};
    what.offset = offset;
    write(to, what, some);
    send(std::move(lock));
    data = data.subspan(some.size());
    offset += some.size() / element;
  }
}

void window_messages::put_long(int rank, std::size_t offset, std::span<const std::byte> data) {
  auto lock = room("put", rank, 0, true);
  peer& to = peer_of(rank);
  record what{kind::long_put};
  what.offset = offset;
  what.number = next_number_++;
  what.length = data.size();
  auto contents = std::make_unique<departure>(*this, rank, what.number, data, &to);
  write(to, what);
  // Where others are on their way already it can wait for the next.
  if (++to.announced >= most_announced || to.open.load() == 0) close(to);
  to.open.fetch_add(1);
  queue(*contents.release());
  send(std::move(lock));
}

void window_messages::get(int rank, std::size_t offset, std::span<std::byte> into) {
  if (into.empty()) return;
  if (into.size() > capacity_ - sizeof(record)) return get_long(rank, offset, into);
  auto lock = room("get", rank, 0, true);
  peer& from = peer_of(rank);
  record what{kind::get};
  what.offset = offset;
  what.number = expect_answer({rank, into.data(), into.size(), nullptr, &from});
  what.length = into.size();
  from.open.fetch_add(1);
  write(from, what);
  send(std::move(lock));
}

void window_messages::get_long(int rank, std::size_t offset, std::span<std::byte> into) {
  auto lock = room("get", rank, 0, true);
  peer& from = peer_of(rank);
  record what{kind::long_get};
  what.offset = offset;
  what.number = next_number_++;
  what.length = into.size();
  auto contents = std::make_unique<arrival>(*this, rank, what.number | asked_for, into, from);
  from.open.fetch_add(1);
  queue(*contents.release());
  write(from, what);
  close(from);
  send(std::move(lock));
}

void window_messages::accumulate(int rank, std::size_t offset, std::span<const std::byte> operands,
                                 window_operator by) {
  const std::size_t element = mine_.type.bytes;
  const std::size_t most = (capacity_ - sizeof(record)) / element * element;
  while (!operands.empty()) {
    const auto some = operands.first(std::min(most, operands.size()));
    auto lock = room("accumulate", rank, some.size());
    record what{kind::accumulate, by};
    what.offset = offset;
    write(peer_of(rank), what, some);
    send(std::move(lock));
    operands = operands.subspan(some.size());
    offset += some.size() / element;
  }
}

void window_messages::notify(int rank, std::size_t slot) {
  auto lock = room("put_notify", rank, 0);
  peer& to = peer_of(rank);
  record what{kind::notify};
  what.offset = slot;
  write(to, what);
  close(to);
  send(std::move(lock));
}

void window_messages::unlock(int rank, lock_mode mode) {
  auto lock = room("unlock", rank, 0);
  peer& to = peer_of(rank);
  record what{kind::unlock};
  what.exclusive = mode == lock_mode::exclusive;
  write(to, what);
  close(to);
  send(std::move(lock));
}

void window_messages::fetch(int rank, std::size_t offset, const std::byte* operand, window_operator by,
                            std::byte* before) {
  const traced_call traced(own_, "fetch_and_op", mine_.type.bytes, rank);
  asking its(*this, "fetch_and_op", rank);
  record what{kind::fetch, by};
  what.offset = offset;
  its.begin(what, {operand, mine_.type.bytes}, {}, {before, mine_.type.bytes});
  its.await();
}

void window_messages::compare(int rank, std::size_t offset, const std::byte* expected, const std::byte* desired,
                              std::byte* before) {
  const traced_call traced(own_, "compare_and_swap", mine_.type.bytes, rank);
  asking its(*this, "compare_and_swap", rank);
  record what{kind::compare};
  what.offset = offset;
  its.begin(what, {expected, mine_.type.bytes}, {desired, mine_.type.bytes}, {before, mine_.type.bytes});
  its.await();
}

bool window_messages::try_lock(int rank, lock_mode mode) {
  asking its(*this, "lock", rank);
  record what{kind::lock};
  what.exclusive = mode == lock_mode::exclusive;
  std::byte got{};
  its.begin(what, {}, {}, {&got, 1});
  its.await();
  return got != std::byte{0};
}

void window_messages::flush(int rank) { flush_ranks("flush", std::span(&rank, 1)); }

void window_messages::flush_all() {
  std::vector<int> ranks;
  for (int rank = 0; rank < own_.size(); ++rank) ranks.push_back(rank);
  flush_ranks("flush_all", ranks);
}

void window_messages::flush_ranks(const char* operation, std::span<const int> ranks) {
  std::deque<asking> all;
  for (const int rank : ranks)
    if (has_unflushed(rank)) all.emplace_back(*this, operation, rank).begin({kind::flush}, {}, {}, {});
  for (asking& each : all) each.await();
  await_open(operation, ranks);
}

bool window_messages::has_unflushed(int rank) {
  const std::lock_guard lock(guard_);
  const peer* const to = peers_[static_cast<std::size_t>(rank)].get();
  return to != nullptr && to->flushed != to->written;
}

std::size_t window_messages::open_at(int rank) {
  const std::lock_guard lock(guard_);
  const peer* const to = peers_[static_cast<std::size_t>(rank)].get();
  return to == nullptr ? 0 : to->open.load();
}

bool window_messages::none_open() {
  const std::lock_guard lock(guard_);
  return std::ranges::none_of(peers_, [](const auto& each) { return each != nullptr && each->open.load() != 0; });
}

void window_messages::await_none_open() {
  pump_->ask();  // who queued something may have thrown before it did
  look_for(own_.host.moved_by(), [this] { return none_open(); });
}

/// Those that have answered have all puts, and have sent what was got; contents of that may still be on their way.
void window_messages::await_open(const char* operation, std::span<const int> ranks) {
  for (const int rank : ranks) await(operation, rank, [&] { return open_at(rank) == 0; });
  if (has_failed_.load()) throw_failure(operation);
}

}  // namespace weft::detail
