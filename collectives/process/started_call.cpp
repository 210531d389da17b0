// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <thread>
#include <utility>
#include <weft/process/started_call.hpp>
#include <weft/runtime/backoff.hpp>
#include <weft/runtime/patience.hpp>

namespace weft::detail {

bool started_calls::poll_calls() {
  if (coroutine::leaves()) return false;  // one of them, which this thread goes on with
  const std::unique_lock lock(lock_, std::try_to_lock);
  if (!lock) return false;
  bool any = false;
  for (started_call* each : calls_) any = each->poll() || any;
  if (any) ended_.fetch_add(1, std::memory_order_relaxed);  // relaxed: see events()
  return any;
}

std::unique_ptr<coroutine> started_calls::enter(started_call& call) {
  const std::lock_guard lock(lock_);
  at_rest_.reserve(most_at_rest);  // what leaves needs no memory
  if (at_rest_.empty()) at_rest_.push_back(std::make_unique<coroutine>(stack_size_, memory_));
  calls_.push_back(&call);
  entered_.store(calls_.size(), std::memory_order_relaxed);
  auto taken = std::move(at_rest_.back());
  at_rest_.pop_back();
  return taken;
}

void started_calls::leave(started_call& call, std::unique_ptr<coroutine> unused) noexcept {
  const std::lock_guard lock(lock_);
  std::erase(calls_, &call);
  entered_.store(calls_.size(), std::memory_order_relaxed);
  if (at_rest_.size() < most_at_rest && !memory_->is_scarce()) at_rest_.push_back(std::move(unused));
}

void started_calls::end(const fabric::participant& of, progress& by) {
  const auto find = [&]() -> started_call* {
    const std::lock_guard lock(lock_);
    const auto found = std::ranges::find_if(calls_, [&](auto* each) { return &each->of_ == &of && !each->over_; });
    return found == calls_.end() ? nullptr : *found;
  };
  look_for(by, [&] {
    started_call* each = find();
    while (each != nullptr && !each->awaited_) {
      each->end();
      each = find();
    }
    return each == nullptr;  // else its fiber ends it, and then may destroy it
  });
}

bool started_calls::look_at_stacks(std::chrono::nanoseconds longest,
                                   const std::function<void(const coroutine::whereabouts&)>& look) const {
  const auto deadline = std::chrono::steady_clock::now() + longest;
  std::unique_lock lock(lock_, std::defer_lock);
  while (!lock.try_lock()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  for (const started_call* each : calls_)
    if (each->runs_on_ != nullptr) look(each->runs_on_->where());
  return true;
}

void started_calls::offer_shown(const fabric::participant& of) {
  const std::lock_guard lock(lock_);
  for (started_call* each : calls_)
    if (&each->of_ == &of) each->offer_shown();
}

started_call::started_call(started_calls& among, const fabric::participant& of, progress& by)
    : among_(among), of_(of), by_(by) {
  runs_on_ = among_.enter(*this);
  runs_on_->begin([](void* self) { static_cast<started_call*>(self)->run(); }, this);
}

started_call::~started_call() {
  hold();
  among_.leave(*this, std::move(runs_on_));
}

void started_call::start() {
  start_to_wait();
  go_on();
}

void started_call::go_on() {
  over_ = resume(coroutine::at_waits::leave);
  if (!over_) offer();
}

void started_call::wait_for_holder() {
  look_for(by_, [this] { return !awaited_; });
}

void started_call::offer() noexcept {
  is_offered_ = true;
  among_.offered_.fetch_add(1, std::memory_order_relaxed);  // relaxed: see started_calls::poll()
  // release: pairs with the acquire of whoever takes it, for what has been done so far.
  owner_.store(owner::nobody, std::memory_order_release);
  if (by_.threaded()) by_.notify();
}

void started_call::offer_shown() noexcept {
  if (owner_.load(std::memory_order_relaxed) != owner::nobody_yet) return;  // relaxed: its rank made it so
  // Counted first, so that whoever takes it back finds it counted.
  among_.offered_.fetch_add(1, std::memory_order_relaxed);  // relaxed: see started_calls::poll()
  owner found = owner::nobody_yet;
  // acq_rel: hands on what leave_shown() released.
  if (!owner_.compare_exchange_strong(found, owner::nobody, std::memory_order_acq_rel, std::memory_order_relaxed)) {
    among_.offered_.fetch_sub(1, std::memory_order_relaxed);
    return;
  }
  if (by_.threaded()) by_.notify();
}

bool started_call::take_back() noexcept {
  for (backoff pause; !done_.ready(); pause.pause()) {
    owner found = owner_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
    // acquire: pairs with the release of leave_shown(), or of who has gone on with it last, in offer() or poll().
    if ((found != owner::nobody && found != owner::nobody_yet) ||
        !owner_.compare_exchange_strong(found, owner::holder, std::memory_order_acquire, std::memory_order_relaxed))
      continue;  // who polls goes on with it, without waiting
    if (found == owner::nobody) among_.offered_.fetch_sub(1, std::memory_order_relaxed);
    is_offered_ = false;
    return true;
  }
  is_offered_ = false;
  return false;
}

bool started_call::poll() noexcept {
  owner found = owner::nobody;
  // relaxed: a look that spares the exchange. acquire: as in take_back().
  if (owner_.load(std::memory_order_relaxed) != owner::nobody ||
      !owner_.compare_exchange_strong(found, owner::poller, std::memory_order_acquire, std::memory_order_relaxed))
    return false;
  if (!resume(coroutine::at_waits::leave)) {
    owner_.store(owner::nobody, std::memory_order_release);  // as in offer()
    return false;
  }
  among_.offered_.fetch_sub(1, std::memory_order_relaxed);
  owner_.store(owner::holder, std::memory_order_relaxed);  // the event orders
  done_.set();
  return true;
}

bool started_call::advance() {
  if (over_ || awaited_) return over_;
  if (!is_offered_) return over_ = resume(coroutine::at_waits::leave);
  // relaxed: who takes it back acquires.
  if (owner_.load(std::memory_order_relaxed) == owner::nobody_yet && take_back()) {
    go_on();
    return over_;
  }
  if (!done_.ready()) by_.help();
  if (!done_.ready()) return false;
  is_offered_ = false;
  return over_ = true;
}

void started_call::end() {
  wait();
  done_.set();
}

event& started_call::offered() {
  if (over_)
    done_.set();
  else if (is_offered_)
    offer_shown();
  else if (!awaited_)
    offer();
  return done_;
}

}  // namespace weft::detail
