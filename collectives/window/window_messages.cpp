// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>
#include <weft/calls/message_operations.hpp>
#include <weft/calls/time_out.hpp>
#include <weft/calls/traced_call.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/patience.hpp>
#include <weft/runtime/time_limit.hpp>
#include <weft/window/window_lock.hpp>
#include <weft/window/window_messages.hpp>

namespace weft::detail {
namespace {

// Tags of the window's communicator: messages of records, and contents that travel by themselves. What a rank has asked
// for and what it sends unasked are numbered by itself, both.
constexpr std::uint64_t records_tag = 0;
constexpr std::uint64_t asked_for = std::uint64_t{1} << 62;

/// A message is as long as may be sent without asking, but has room for the contents of any record that has some.
constexpr std::size_t least_capacity = 256;
/// Messages of one rank that are being filled or on their way.
constexpr std::size_t most_messages = 64;

/// Puts fill messages to their end, but by no less than so many bytes. Those that take more messages than this go by
/// themselves: between two hosts over libfabric's net, puts of 16 KiB took 32 us so, and 42 by themselves.
constexpr std::size_t least_part = 128;
constexpr std::size_t most_messages_of_a_put = 2;
/// Records of long puts in a message.
constexpr std::size_t most_announced = 8;

constexpr std::size_t padded(std::size_t bytes) noexcept { return (bytes + 7) / 8 * 8; }

}  // namespace

/// Whose turn it is to post what is queued: whoever holds the token, so that it goes in order.
class window_messages::pump final : public fabric::task {
 public:
  explicit pump(window_messages& of) noexcept : of_(of) {}
  void ask() noexcept {
    // seq_cst, and in run_held(): who finds it asked for has queued before that looks.
    if (!is_asked_.exchange(true)) of_.own_.host.messages().post(*this);
    if (of_.own_.host.moved_by().threaded()) of_.own_.host.moved_by().notify();
  }
  bool is_asked() const noexcept { return is_asked_.load(); }

 private:
  void run_held() noexcept override {
    is_asked_.store(false);
    of_.send_held();
  }
  window_messages& of_;
  std::atomic<bool> is_asked_{false};
};

class window_messages::message final : public fabric::send_operation {
 public:
  explicit message(window_messages& of) : of_(of), memory_(std::make_unique_for_overwrite<std::byte[]>(of.capacity_)) {
    at = &of.own_.member;
    tag = records_tag;
    data = memory_.get();
  }
  std::byte* end() noexcept { return memory_.get() + bytes; }

 private:
  void finished() noexcept override {
    {
      const std::lock_guard lock(of_.guard_);
      of_.at_rest_.emplace_back(this);  // as many are reserved as are made
    }
    of_.in_use_.fetch_sub(1);
    of_.note_end(*this);
  }
  window_messages& of_;
  const std::unique_ptr<std::byte[]> memory_;
};

class window_messages::standing final : public fabric::receive_operation {
 public:
  explicit standing(window_messages& of) : of_(of), memory_(std::make_unique_for_overwrite<std::byte[]>(of.capacity_)) {
    at = &of.own_.member;
    peer = fabric::any_peer;
    tag = records_tag;
    data = memory_.get();
    bytes = of.capacity_;
    ahead = true;
  }

 private:
  void finished() noexcept override {
    if (failure == nullptr && received != 0) of_.take(source, {data, received});
    if (failure != nullptr || of_.stops_.load()) return of_.note_end(*this);
    of_.own_.host.messages().post_held(*this);
  }
  window_messages& of_;
  const std::unique_ptr<std::byte[]> memory_;
};

class window_messages::departure final : public fabric::send_operation {
 public:
  /// `counted` in that peer's; null: others have asked for it.
  departure(window_messages& of, int rank, std::uint64_t number, std::span<const std::byte> contents,
            window_messages::peer* counted) noexcept
      : of_(of), counted_(counted) {
    prepare_message(*this, of.own_, contents, rank, static_cast<std::int64_t>(number));
  }

 private:
  void finished() noexcept override {
    const std::unique_ptr<departure> mine(this);
    of_.note_end(*this, counted_);
  }
  window_messages& of_;
  window_messages::peer* const counted_;
};

class window_messages::arrival final : public fabric::receive_operation {
 public:
  arrival(window_messages& of, int rank, std::uint64_t number, std::span<std::byte> into,
          window_messages::peer& counted) noexcept
      : of_(of), counted_(counted) {
    prepare_message(*this, of.own_, into, rank, static_cast<std::int64_t>(number));
  }

 private:
  void finished() noexcept override {
    const std::unique_ptr<arrival> mine(this);
    of_.note_end(*this, &counted_);
  }
  window_messages& of_;
  window_messages::peer& counted_;
};

class window_messages::landing final : public fabric::receive_operation {
 public:
  landing(window_messages& of, int source, std::uint64_t number, std::span<std::byte> into,
          std::uint64_t order) noexcept
      : of_(of), order_(order) {
    prepare_message(*this, of.own_, into, source, static_cast<std::int64_t>(number));
  }

 private:
  void finished() noexcept override {
    const std::unique_ptr<landing> mine(this);
    if (failure == nullptr) of_.landed(peer, order_);
    of_.note_end(*this);
  }
  window_messages& of_;
  const std::uint64_t order_;
};

/// A question, until it is answered or this goes.
class window_messages::asking {
 public:
  asking(window_messages& of, const char* operation, int rank) noexcept : of_(of), operation_(operation), rank_(rank) {}
  asking(const asking&) = delete;
  asking& operator=(const asking&) = delete;
  ~asking() {
    if (number_ == 0) return;
    const std::lock_guard lock(of_.guard_);  // who answers sets the event under it
    of_.answers_.erase(number_);
  }

  void begin(record what, std::span<const std::byte> contents, std::span<const std::byte> more,
             std::span<std::byte> into) {
    auto lock = of_.room(operation_, rank_, contents.size() + more.size());
    peer& to = of_.peer_of(rank_);
    if (what.what == kind::flush) flushes_ = to.written;
    what.number = number_ = of_.expect_answer({into.data(), into.size(), &done_, nullptr});
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
      else if (!done_.wait_until(by, limit->when()))
        throw_timed_out(where(of_.own_, operation_), {rank_});
    }
    if (of_.has_failed_.load()) of_.throw_failure(operation_);
    if (flushes_ == 0) return;
    const std::lock_guard lock(of_.guard_);
    peer& to = of_.peer_of(rank_);
    to.flushed = std::max(to.flushed, flushes_);
  }

 private:
  window_messages& of_;
  const char* const operation_;
  const int rank_;
  std::uint64_t number_ = 0;
  std::uint64_t flushes_ = 0;
  event done_;
};

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
  await_quiet();
}

void window_messages::await_end() noexcept { await_quiet(); }

void window_messages::await_quiet() {
  look_for(own_.host.moved_by(), [&] { return in_flight_.load() == 0 && !pump_->is_asked(); });
  own_.host.messages().while_held([] {});  // who has told so is behind it
}

// What the rank's own calls do.

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

std::unique_lock<std::mutex> window_messages::room(const char* operation, int rank, std::size_t contents) {
  for (;;) {
    std::unique_lock lock(guard_);
    if (failure_ != nullptr) rethrow(own_, operation, failure_);
    queued_.reserve(queued_.size() + 2);  // of what queue() adds until the guard goes
    peer& to = peer_of(rank);
    if (has_room(to, contents)) return lock;
    if (to.filling != nullptr) {
      close(to);
      queued_.reserve(queued_.size() + 2);
    }
    if (in_use_.load() < most_messages) {
      to.filling = take_message(rank).release();
      return lock;
    }
    send(std::move(lock));
    look_for(own_.host.moved_by(), [&] { return in_use_.load() < most_messages || has_failed_.load(); });
  }
}

void window_messages::write(peer& to, const record& what, std::span<const std::byte> contents,
                            std::span<const std::byte> more) noexcept {
  record whole = what;
  whole.bytes = static_cast<std::uint32_t>(contents.size() + more.size());
  std::byte* at = to.filling->end();
  std::memcpy(at, &whole, sizeof whole);
  at += sizeof whole;
  if (!contents.empty()) std::memcpy(at, contents.data(), contents.size());
  if (!more.empty()) std::memcpy(at + contents.size(), more.data(), more.size());
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

void window_messages::throw_failure(const char* operation) {
  std::unique_lock lock(guard_);
  const std::exception_ptr why = failure_;
  lock.unlock();
  rethrow(own_, operation, why);
}

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
  auto lock = room("put", rank, 0);
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
  auto lock = room("get", rank, 0);
  peer& from = peer_of(rank);
  record what{kind::get};
  what.offset = offset;
  what.number = expect_answer({into.data(), into.size(), nullptr, &from});
  what.length = into.size();
  from.open.fetch_add(1);
  write(from, what);
  send(std::move(lock));
}

void window_messages::get_long(int rank, std::size_t offset, std::span<std::byte> into) {
  auto lock = room("get", rank, 0);
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
  what.mode = mode;
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
  what.mode = mode;
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
  try {
    std::deque<asking> all;
    for (const int rank : ranks)
      if (has_unflushed(rank)) all.emplace_back(*this, operation, rank).begin({kind::flush}, {}, {}, {});
    for (asking& each : all) each.await();
    await_open(operation, ranks);
  } catch (...) {  // the caller's buffers are free then
    if (has_failed_.load()) look_for(own_.host.moved_by(), [this] { return none_open(); });
    throw;
  }
}

bool window_messages::has_unflushed(int rank) {
  const std::lock_guard lock(guard_);
  const peer* const to = peers_[static_cast<std::size_t>(rank)].get();
  return to != nullptr && to->flushed != to->written;
}

bool window_messages::is_open(int rank) {
  const std::lock_guard lock(guard_);
  const peer* const to = peers_[static_cast<std::size_t>(rank)].get();
  return to != nullptr && to->open.load() != 0;
}

bool window_messages::none_open() {
  const std::lock_guard lock(guard_);
  return std::ranges::none_of(peers_, [](const auto& each) { return each != nullptr && each->open.load() != 0; });
}

/// Those that have answered have all puts, and have sent what was got; contents of that may still be on their way.
void window_messages::await_open(const char* operation, std::span<const int> ranks) {
  const time_limit* const limit = time_limit::current();
  progress& by = own_.host.moved_by();
  const auto is_late = [&] { return limit != nullptr && by.time().now() >= limit->when(); };
  for (const int rank : ranks)
    if (!look_for(
            by, [&] { return !is_open(rank); }, is_late))
      throw_timed_out(where(own_, operation), {rank});
  if (has_failed_.load()) throw_failure(operation);
}

// What is done with the token held.

void window_messages::send_held() noexcept {
  for (;;) {
    {
      const std::lock_guard lock(guard_);
      if (queued_.empty()) return;
      posting_.swap(queued_);
    }
    for (fabric::operation* const each : posting_) own_.host.messages().post_held(*each);
    posting_.clear();
  }
}

void window_messages::note_end(const fabric::operation& ended, peer* counted) noexcept {
  if (ended.failure != nullptr) fail(ended.failure);
  if (counted != nullptr) counted->open.fetch_sub(1);
  in_flight_.fetch_sub(1);
}

void window_messages::fail(const std::exception_ptr& why) noexcept {
  const std::lock_guard lock(guard_);
  if (failure_ != nullptr) return;
  failure_ = why;
  has_failed_.store(true);
  for (const auto& [number, each] : answers_) {
    if (each.of != nullptr) each.of->open.fetch_sub(1);
    if (each.done != nullptr) each.done->set();
  }
  answers_.clear();
}

void window_messages::break_off(const std::exception_ptr& why) noexcept {
  own_.host.messages().break_held(own_.id(), why);
}

void window_messages::take(int source, std::span<const std::byte> records) noexcept {
  try {
    peer* from = nullptr;
    {
      const std::lock_guard lock(guard_);
      from = &peer_of(source);
    }
    bool well = true;
    while (well && !records.empty()) {
      record what;
      well = records.size() >= sizeof what;
      if (!well) break;
      std::memcpy(&what, records.data(), sizeof what);
      records = records.subspan(sizeof what);
      well = records.size() >= padded(what.bytes) && carry_out(source, *from, what, records.data());
      if (well) records = records.subspan(padded(what.bytes));
    }
    if (!well)
      break_off(std::make_exception_ptr(
          error(errc::protocol, "rank " + std::to_string(source) + " asked for what its window does not have")));
    const std::lock_guard lock(guard_);
    queued_.reserve(queued_.size() + 1);
    close(*from);
  } catch (...) {
    break_off(std::current_exception());
  }
  send_held();
}

/// Where `bytes` bytes from the record's offset on lie; null: not all of them are there.
std::byte* window_messages::place(const record& what, std::size_t bytes) const noexcept {
  const std::size_t element = mine_.type.bytes, count = mine_.memory.count;
  if (what.offset > count || bytes > (count - what.offset) * element) return nullptr;
  return mine_.memory.elements + what.offset * element;
}

bool window_messages::carry_out(int source, peer& from, const record& what, const std::byte* contents) {
  const window_type& type = mine_.type;
  std::array<std::byte, 8> before;
  switch (what.what) {
    case kind::put:
      if (std::byte* const to = place(what, what.bytes)) return std::memcpy(to, contents, what.bytes), true;
      return false;
    case kind::accumulate:
      if (std::byte* const to = place(what, what.bytes))
        return type.combine != nullptr && type.combine(what.by, to, contents, what.bytes / type.bytes);
      return false;
    case kind::fetch: {
      std::byte* const at = place(what, type.bytes);
      if (at == nullptr || what.bytes != type.bytes || type.fetch == nullptr) return false;
      if (!type.fetch(what.by, at, contents, before.data())) return false;
      return answer(source, what, std::span(before).first(type.bytes)), true;
    }
    case kind::compare: {
      std::byte* const at = place(what, type.bytes);
      if (at == nullptr || what.bytes != 2 * type.bytes || type.compare == nullptr) return false;
      type.compare(at, contents, contents + type.bytes, before.data());
      return answer(source, what, std::span(before).first(type.bytes)), true;
    }
    case kind::get:
      if (const std::byte* const of = place(what, what.length); of != nullptr && what.length <= capacity_ - sizeof what)
        return answer(source, what, {of, what.length}), true;
      return false;
    case kind::answer:
      return take_answer(what, contents), true;
    case kind::lock: {
      before[0] = std::byte{try_lock_near(*mine_.memory.control, what.mode)};
      return answer(source, what, std::span(before).first(1)), true;
    }
    case kind::unlock:
      return unlock_near(*mine_.memory.control, what.mode), true;
    case kind::long_put:
      return place(what, what.length) != nullptr && (land(source, from, what), true);
    case kind::long_get:
      return place(what, what.length) != nullptr && (depart(source, what), true);
    case kind::notify:
    case kind::flush:
      if (from.landing.empty()) return carry_out_now(source, what);
      return from.waits.push_back({what, from.landings}), true;
  }
  return false;
}

bool window_messages::carry_out_now(int source, const record& what) {
  if (what.what == kind::flush) return answer(source, what, {}), true;
  if (what.offset >= mine_.slots) return false;
  window_base::notify_near(mine_.memory, what.offset);
  return true;
}

void window_messages::land(int source, peer& from, const record& what) {
  from.landing.reserve(from.landing.size() + 1);
  auto made = std::make_unique<landing>(*this, source, what.number, std::span(place(what, what.length), what.length),
                                        from.landings);
  from.landing.push_back(from.landings++);
  in_flight_.fetch_add(1);
  own_.host.messages().post_held(*made.release());
}

void window_messages::landed(int source, std::uint64_t number) noexcept {
  try {
    peer* from = nullptr;
    {
      const std::lock_guard lock(guard_);
      from = &peer_of(source);
    }
    std::erase(from->landing, number);
    const auto is_behind_landed = [&](const peer::waiting& each) {
      return std::ranges::none_of(from->landing, [&](std::uint64_t open) { return open < each.behind; });
    };
    bool well = true;
    while (well && !from->waits.empty() && is_behind_landed(from->waits.front())) {
      well = carry_out_now(source, from->waits.front().what);
      from->waits.pop_front();
    }
    if (!well)
      break_off(std::make_exception_ptr(
          error(errc::protocol, "rank " + std::to_string(source) + " notified a slot that its window does not have")));
    const std::lock_guard lock(guard_);
    queued_.reserve(queued_.size() + 1);
    close(*from);
  } catch (...) {
    break_off(std::current_exception());
  }
  send_held();
}

void window_messages::depart(int source, const record& what) {
  auto made = std::make_unique<departure>(*this, source, what.number | asked_for,
                                          std::span<const std::byte>(place(what, what.length), what.length), nullptr);
  in_flight_.fetch_add(1);
  own_.host.messages().post_held(*made.release());
}

void window_messages::answer(int source, const record& asked, std::span<const std::byte> contents) {
  const std::lock_guard lock(guard_);
  queued_.reserve(queued_.size() + 1);
  peer& to = peer_of(source);
  if (!has_room(to, contents.size())) {
    close(to);
    to.filling = take_message(source).release();
  }
  record what{kind::answer};
  what.number = asked.number;
  write(to, what, contents);
}

void window_messages::take_answer(const record& its, const std::byte* contents) {
  const std::lock_guard lock(guard_);
  const auto found = answers_.find(its.number);
  if (found == answers_.end()) return;  // who asked has given up
  const awaited_answer of = found->second;
  answers_.erase(found);
  if (of.into != nullptr) std::memcpy(of.into, contents, std::min<std::size_t>(of.bytes, its.bytes));
  if (of.of != nullptr) of.of->open.fetch_sub(1);
  if (of.done != nullptr) of.done->set();
}

}  // namespace weft::detail
