// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>
#include <weft/calls/pending.hpp>
#include <weft/calls/time_out.hpp>
#include <weft/calls/traced_call.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/patience.hpp>
#include <weft/runtime/scheduler.hpp>
#include <weft/runtime/time_limit.hpp>
#include <weft/task.hpp>

namespace weft::detail {

bool pending::advance() {
  if (done().ready()) return true;
  state_->host.moved_by().help();
  return done().ready();
}

/// Without memory it is not recorded.
void pending::note_as(const trace::record& as) noexcept {
  if (traced_ == nullptr) try {
      traced_ = std::make_unique<noted>();
    } catch (const std::bad_alloc&) {
      return;
    }
  static_cast<trace::record&>(*traced_) = as;
  traced_->overlaps = true;
}

void pending::record_end() noexcept {
  if (traced_->begin == 0) return;
  traced_->end = ticks_now();
  const trace::on_track_of_call here(*state_->records);
  if (here.on() != nullptr) here.on()->add(*traced_);
  traced_->begin = 0;
}

bool pending::ready() {
  if (done().ready()) return true;
  const trace::on_track_if here(state_->records);
  if (advance()) return true;
  scheduler::yield();  // it may be another fiber's turn to do its part
  return advance();
}

void pending::await_in_time() {
  const time_limit* const limit = time_limit::current();
  if (limit == nullptr) return await();
  if (!done().wait_until(state_->host.moved_by(), limit->when()))
    throw_timed_out(where(*state_, operation_), missing());
}

void pending::await() {
  const ticks since = done().ready() ? 0 : trace::begin_wait();
  const std::vector<int> awaited = since != 0 ? missing() : std::vector<int>();
  done().wait(state_->host.moved_by());
  if (since != 0) trace::note_wait(since, awaited.empty() ? trace::record::nobody : traced_rank(*state_, awaited[0]));
}

std::vector<int> pending::missing() const { return awaited_ranks(*state_, false); }

void pending::break_communicator() {
  break_with_beside(*state_,
                    "rank " + std::to_string(state_->member.rank) + " dropped an operation while an exception unwound");
}

void pending::abandon() {
  if (unwinding() && !done().ready()) {
    state_->host.messages().flush();  // a short message may only have waited for that
    if (!advance()) break_communicator();
  }
  await();
  if (failure() == nullptr) deliver();
}

void pending::wake_waiters() noexcept {
  for (task_base* each = std::exchange(waiters_, nullptr); each != nullptr;) each = each->lose_operation();
}

void pending::add_waiter(task_base& one) noexcept { one.next_waiter() = std::exchange(waiters_, &one); }

void pending::remove_waiter(const task_base& one) noexcept {
  task_base** at = &waiters_;
  while (*at != nullptr && *at != &one) at = &(*at)->next_waiter();
  if (*at != nullptr) *at = (*at)->next_waiter();
}

void waited_together::add(pending& one) {
  if (events_.empty()) of_first_ = &one.state();
  if (&of_first_->host != &one.state().host)
    throw error(errc::invalid_argument,
                std::string(call_) + ": the operations are of several runtimes; wait for those of one");
  events_.push_back(&one.done());
}

std::size_t waited_together::wait() const {
  progress& by = of_first_->host.moved_by();
  const traced_call traced(*of_first_, call_);
  const time_limit* const limit = time_limit::current();
  if (limit == nullptr) return event::wait_any(events_, by);
  std::size_t done = 0;
  const bool in_time = look_for(
      by,
      [&] {
        done = static_cast<std::size_t>(std::ranges::find_if(events_, &event::ready) - events_.begin());
        return done < events_.size();
      },
      [&] { return by.time().now() >= limit->when(); });
  if (!in_time) throw_timed_out(call_, {});
  return done;
}

std::size_t wait_any(std::span<pending* const> all) {
  waited_together any("wait_any");
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i] == nullptr) continue;
    if (all[i]->done().ready()) return i;
    any.add(*all[i]);
    indices.push_back(i);
  }
  return any.empty() ? all.size() : indices[any.wait()];
}

std::size_t test_any(std::span<pending* const> all) {
  // One goes on with what it can, for all, and lets other fibers run.
  const auto first = std::ranges::find_if(all, [](pending* each) { return each != nullptr; });
  if (first != all.end() && (*first)->ready()) return static_cast<std::size_t>(first - all.begin());
  const auto done = std::ranges::find_if(all, [](pending* each) { return each != nullptr && each->done().ready(); });
  return static_cast<std::size_t>(done - all.begin());
}

std::vector<std::size_t> wait_some(std::span<pending* const> all) {
  std::vector<std::size_t> found;
  for (std::size_t i = wait_any(all); i < all.size(); ++i)
    if (all[i] != nullptr && all[i]->done().ready()) found.push_back(i);
  return found;
}

}  // namespace weft::detail
