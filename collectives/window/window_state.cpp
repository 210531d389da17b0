// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <limits>
#include <new>
#include <string>
#include <utility>
#include <vector>
#include <weft/calls/time_out.hpp>
#include <weft/calls/traced_call.hpp>
#include <weft/fabric/shared_sleep.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/patience.hpp>
#include <weft/runtime/rest.hpp>
#include <weft/runtime/scheduler.hpp>
#include <weft/runtime/time_limit.hpp>
#include <weft/runtime/wait_for.hpp>
#include <weft/window/window_lock.hpp>
#include <weft/window/window_state.hpp>

namespace weft::detail {
namespace {

/// When a wait ends for which there is no event: where the communicator has failed, or a deadline has passed.
class giving_up {
 public:
  giving_up(communicator_state& own, window_messages* messages) noexcept : own_(own), messages_(messages) {}

  bool is_due() {
    own_.host.messages().while_held([&] { failure_ = own_.member.failure; });
    late_ = limit_ != nullptr && own_.host.moved_by().time().now() >= limit_->when();
    return failure_ != nullptr || late_;
  }
  [[noreturn]] void raise(const char* operation, std::vector<int> missing) const {
    if (failure_ == nullptr) throw_timed_out(where(own_, operation), std::move(missing));
    if (messages_ != nullptr) messages_->await_none_open();
    rethrow(own_, operation, failure_);
  }

 private:
  communicator_state& own_;
  window_messages* const messages_;
  const time_limit* const limit_ = time_limit::current();
  std::exception_ptr failure_;
  bool late_ = false;
};

/// Puts that are notified in a slot, for weft/runtime/wait_for.hpp.
class awaited_notes {
 public:
  /// `messages`, or null: by which puts may come, so that it polls from the first.
  awaited_notes(communicator_state& own, window_slot& slot, std::uint32_t enough, window_messages* messages)
      : given_up(own, messages),
        by_(own.host.moved_by()),
        slot_(slot),
        enough_(enough),
        looks_(messages != nullptr ? 0 : looks_before_pauses),
        pause_(by_) {}

  giving_up given_up;

  bool has_come() const noexcept {
    // acquire: pairs with notify_near(), which comes behind the data.
    return has(slot_.notified.load(std::memory_order_acquire));
  }
  bool is_given_up() { return given_up.is_due(); }
  int looks() const noexcept { return looks_; }
  void came_after(int) {}
  void before_pauses() {}
  void pause() {
    if (by_.help()) return pause_.reset();
    pause_.pause([this](auto longest, progress* rung_by) { sleep(longest, rung_by); });
    scheduler::yield();
  }

 private:
  static constexpr int looks_before_pauses = 256;

  bool has(std::uint32_t notified) const noexcept { return static_cast<std::int32_t>(notified - enough_) >= 0; }
  void sleep(std::chrono::nanoseconds longest, progress* rung_by) {
    // seq_cst, and the look behind it: pairs with notify_near(). Either that one finds this rank asleep, or this one
    // finds the put notified.
    slot_.asleep.store(1);
    const std::uint32_t seen = slot_.notified.load();
    if (!has(seen)) fabric::sleep_on_shared(&slot_.notified, seen, longest, rung_by);
    slot_.asleep.store(0, std::memory_order_relaxed);  // relaxed: one wake too many does no harm
  }

  progress& by_;
  window_slot& slot_;
  const std::uint32_t enough_;
  const int looks_;
  rest pause_;
};

}  // namespace

window_state::window_state(std::shared_ptr<communicator_state> own, const window_type& type, std::size_t count,
                           std::size_t slots)
    : own_(std::move(own)), type_(type) {
  try {
    awaited_ = std::make_unique<std::uint32_t[]>(slots);
    memory_.emplace(own_->host.memory(), type, count, slots);
  } catch (const std::exception&) {  // weft::error, std::bad_alloc: all are told
  }
  part_ = part_of(*own_, type, count, slots, memory_ ? &*memory_ : nullptr);
}

void window_state::connect(std::span<const window_part> all) {
  table_ = find_targets(*own_, all);
  if (!table_->any_far) return;
  const window_target& mine = memory_->target();
  messages_ = std::make_unique<window_messages>(*own_, window_messages::served{mine, part_.slots, type_});
  messages_->serve();
}

void window_state::wait_notified(std::size_t slot, std::uint32_t count) {
  if (count > static_cast<std::uint32_t>(std::numeric_limits<std::int32_t>::max()))
    throw error(errc::invalid_count, where(*own_, "wait_notified") + ": " + std::to_string(count) +
                                         " puts; at most 2^31 - 1 are waited for at a time");
  const traced_call traced(*own_, "wait_notified");
  const std::uint32_t enough = awaited_[slot] + count;
  awaited_notes it(*own_, memory_->target().slot(slot), enough, messages_.get());
  if (!wait_for(it)) it.given_up.raise("wait_notified", {});
  awaited_[slot] = enough;
}

void window_state::flush(int rank) {
  // seq_cst: the puts are before whatever of the caller's comes behind, atomic or not.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (table_->targets[static_cast<std::size_t>(rank)].elements != nullptr) return;
  const traced_call traced(*own_, "flush", 0, rank);
  messages_->flush(rank);
}

void window_state::flush_all() {
  std::atomic_thread_fence(std::memory_order_seq_cst);  // as in flush()
  if (messages_ == nullptr) return;
  const traced_call traced(*own_, "flush_all");
  messages_->flush_all();
}

bool window_state::try_lock(int rank, lock_mode mode) {
  const window_target& at = table_->targets[static_cast<std::size_t>(rank)];
  return at.elements != nullptr ? try_lock_near(*at.control, mode) : messages_->try_lock(rank, mode);
}

void window_state::lock(int rank, lock_mode mode) {
  const traced_call traced(*own_, "lock", 0, rank);
  if (try_lock(rank, mode)) return;
  giving_up given_up(*own_, messages_.get());
  if (!look_for(
          own_->host.moved_by(), [&] { return try_lock(rank, mode); }, [&] { return given_up.is_due(); }))
    given_up.raise("lock", {rank});
}

void window_state::give_back(int rank, lock_mode mode) {
  const window_target& at = table_->targets[static_cast<std::size_t>(rank)];
  if (at.elements != nullptr) return unlock_near(*at.control, mode);
  messages_->unlock(rank, mode);
}

void window_state::stop() noexcept {
  if (messages_ != nullptr) messages_->stop();
}

void window_state::give_up() noexcept {
  if (messages_ != nullptr) messages_->await_end();
  if (memory_) memory_->leave_until_end();
}

}  // namespace weft::detail
