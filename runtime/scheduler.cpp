// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <utility>
#include <weft/runtime/coroutine.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/progress.hpp>
#include <weft/runtime/scheduler.hpp>
#include <weft/runtime/trace.hpp>

#include "futex.hpp"
#include "stack_watch.hpp"

namespace weft {

namespace {
/// A handler of signals reads it: on no thread may it have to be made first.
[[gnu::tls_model("initial-exec")]] constinit thread_local scheduler* current_scheduler = nullptr;

/// What a sleep is cut to while deadlines are pending: their clock may not be the machine's.
constexpr std::chrono::nanoseconds deadline_granularity = std::chrono::milliseconds(1);

// The remote queue's head doubles as a futex by its low half; see scheduler::asleep.
static_assert(std::endian::native == std::endian::little);
}  // namespace

scheduler::scheduler(std::size_t stack_size, const clock& time, std::shared_ptr<memory_budget> memory)
    : time_(time), stacks_(stack_size, stack_pool::usually_kept, std::move(memory)) {}

scheduler::~scheduler() {
  while (!ready_.empty()) {
    fiber& never_ran = ready_.pop();
    never_ran.call_(never_ran.callable_, fiber::task::destroy);
    recycle(never_ran);
  }
}

// Not inlined: a coroutine may be on another thread behind a wait, and is to ask for that one's.
[[gnu::noinline]] scheduler* scheduler::current() noexcept { return current_scheduler; }

fiber& scheduler::add(stack&& memory, void* callable, fiber::function call) noexcept {
  void* place = memory.top() - fiber::room(0);
  fiber& added = *new (place) fiber(*this, std::move(memory), callable, call);
  if (running_ != nullptr) {
    added.rank_ = running_->rank_;
    added.track_ = running_->track_;
  }
  ++live_;
  ready_.push(added);
  return added;
}

void scheduler::recycle(fiber& ended) noexcept {
  stack memory = std::move(ended.memory_);
  ended.~fiber();
  stacks_.give(std::move(memory));
  --live_;
}

void scheduler::run() {
  if (current_scheduler != nullptr) {
    throw error(errc::invalid_argument, "scheduler::run: called within run; a thread runs one scheduler at a time");
  }
  const stack_watch watched;
  context home;
  home_ = &home;
  outside_ = trace::current_track;
  current_scheduler = this;
  while (live_ > 0) {
    take_remote();
    take_expired();
    if (ready_.empty()) {
      wait_for_work();
    } else {
      be_fair();
      resume(ready_.pop());
    }
  }
  current_scheduler = nullptr;
  home_ = nullptr;
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void scheduler::resume(fiber& next) noexcept {
  ++switches_;
  running_ = &next;
  trace::current_track = next.track_;
  home_->switch_to(next.context_);
  trace::current_track = outside_;
  running_ = nullptr;
  if (ended_ != nullptr) recycle(*std::exchange(ended_, nullptr));
}

void scheduler::be_fair() noexcept {
  if (switches_ < busy_at_) return;
  busy_at_ = switches_ + busy_interval;
  if (busy_) busy_();
}

void scheduler::wait_for_work() noexcept {
  busy_at_ = switches_ + busy_interval;
  if (idle_) {
    idle_();
  } else if (fall_asleep()) {
    sleep_until_woken(earliest_ != nullptr ? &deadline_granularity : nullptr);
    wake_up();
  }
}

scheduler::glimpse scheduler::look() const noexcept {
  // relaxed: it is told from none and from the mark; the list is not followed.
  const fiber* const from_elsewhere = remote_.load(std::memory_order_relaxed);
  return {switches_, running_, !ready_.empty() || (from_elsewhere != nullptr && from_elsewhere != asleep())};
}

bool scheduler::sleep(std::chrono::nanoseconds longest, progress* rung_by) noexcept {
  return sleep_by(longest, rung_by, [this](std::chrono::nanoseconds most) { sleep_until_woken(&most); });
}

bool scheduler::sleep_on(const shared_word& word, std::chrono::nanoseconds longest, progress* rung_by) noexcept {
  return sleep_by(longest, rung_by, [&](std::chrono::nanoseconds most) {
    const trace::part recorded(trace::kind::sleep, "sleep");
    futex_wait_either(&remote_, asleep_mark(), word.at, word.expected, most);
  });
}

template <class Sleep>
bool scheduler::sleep_by(std::chrono::nanoseconds longest, progress* rung_by, Sleep&& sleep) noexcept {
  struct roused_scheduler final : sleeper {
    explicit roused_scheduler(scheduler& its) : own(its) {}
    void rouse() noexcept override { own.rouse(); }
    scheduler& own;
  } mine(*this);
  if (earliest_ != nullptr) longest = std::min(longest, deadline_granularity);
  if (!ready_.empty() || !fall_asleep()) return true;
  if (rung_by != nullptr) {
    const listener heard(*rung_by, mine);
    if (!rung_by->help() && ready_.empty()) sleep(longest);
  } else {
    sleep(longest);
  }
  return !wake_up() || !ready_.empty();
}

std::uint32_t scheduler::asleep_mark() noexcept {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(asleep()));
}

bool scheduler::fall_asleep() noexcept {
  // relaxed, here and in wake_up(): the mark says only that this thread sleeps; what the wakers did is acquired in
  // take_remote().
  fiber* found = nullptr;
  return remote_.compare_exchange_strong(found, asleep(), std::memory_order_relaxed);
}

void scheduler::sleep_until_woken(const std::chrono::nanoseconds* longest) noexcept {
  const trace::part recorded(trace::kind::sleep, "sleep");
  futex_wait(&remote_, asleep_mark(), longest);
}

bool scheduler::wake_up() noexcept {
  fiber* found = asleep();
  return remote_.compare_exchange_strong(found, nullptr, std::memory_order_relaxed);
}

void scheduler::rouse() noexcept {
  if (wake_up()) futex_wake(&remote_);
}

void scheduler::wake_from_elsewhere(fiber& woken) noexcept {
  const void* word = &remote_;
  // relaxed: the list is only linked here, not followed.
  fiber* found = remote_.load(std::memory_order_relaxed);
  do {
    woken.next_remote_ = found == asleep() ? nullptr : found;
    // release: pairs with the acquire in take_remote(), for the link and for what the waker did before. It is the last
    // access: from here on the fiber may run and end, and the scheduler be gone.
  } while (!remote_.compare_exchange_weak(found, &woken, std::memory_order_release, std::memory_order_relaxed));
  if (found == asleep()) futex_wake(word);
}

void scheduler::take_remote() noexcept {
  if (remote_.load(std::memory_order_relaxed) == nullptr) return;  // relaxed: the exchange orders
  // acquire: see wake_from_elsewhere(). Earlier pushes are seen too: later ones continue their release sequence.
  fiber* last = remote_.exchange(nullptr, std::memory_order_acquire);
  fiber* first = nullptr;
  while (last != nullptr) {
    fiber* before = std::exchange(last->next_remote_, first);
    first = std::exchange(last, before);
  }
  while (first != nullptr) {
    fiber& woken = *first;
    first = woken.next_remote_;
    make_ready(woken);
  }
}

void scheduler::make_ready(fiber& woken) noexcept {
  woken.woken_ = true;
  if (!woken.parked_) return;
  woken.parked_ = false;
  if (woken.timed_) clear_deadline(woken);
  ready_.push(woken);
}

void scheduler::yield() noexcept {
  if (coroutine::leave()) return;
  fiber* mine = fiber::current();
  if (mine == nullptr) return;
  mine->owner_.ready_.push(*mine);
  mine->owner_.switch_away(*mine);
}

void scheduler::park() noexcept {
  fiber& mine = *running_;
  if (!mine.woken_) {
    mine.parked_ = true;
    switch_away(mine);
  }
  mine.woken_ = false;
}

bool scheduler::park_until(clock::time_point deadline) noexcept {
  fiber& mine = *running_;
  if (!mine.woken_) {
    mine.parked_ = true;
    set_deadline(mine, deadline);
    switch_away(mine);
  }
  return std::exchange(mine.woken_, false);
}

void scheduler::switch_away(fiber& from) noexcept {
  // relaxed: only a hint to go and see; take_remote() orders.
  const bool visit_home =
      ready_.empty() || ++switches_ >= busy_at_ || remote_.load(std::memory_order_relaxed) != nullptr;
  if (visit_home) {
    from.context_.switch_to(*home_);
    return;
  }
  fiber& next = ready_.pop();
  if (&next == &from) return;
  running_ = &next;
  trace::current_track = next.track_;
  from.context_.switch_to(next.context_);
}

void scheduler::set_deadline(fiber& timed, clock::time_point deadline) noexcept {
  timed.deadline_ = deadline;
  timed.timed_ = true;
  // From the back: most waits of a program are equally long, so a new deadline is mostly the latest.
  fiber* before = latest_;
  while (before != nullptr && before->deadline_ > deadline) before = before->earlier_;
  fiber* after = before == nullptr ? earliest_ : before->later_;
  timed.earlier_ = before;
  timed.later_ = after;
  (before == nullptr ? earliest_ : before->later_) = &timed;
  (after == nullptr ? latest_ : after->earlier_) = &timed;
}

void scheduler::clear_deadline(fiber& timed) noexcept {
  timed.timed_ = false;
  (timed.earlier_ == nullptr ? earliest_ : timed.earlier_->later_) = timed.later_;
  (timed.later_ == nullptr ? latest_ : timed.later_->earlier_) = timed.earlier_;
}

void scheduler::take_expired() noexcept {
  if (earliest_ == nullptr) return;
  const auto now = time_.now();
  while (earliest_ != nullptr && earliest_->deadline_ <= now) {
    fiber& expired = *earliest_;
    clear_deadline(expired);
    expired.parked_ = false;
    ready_.push(expired);
  }
}

fiber::fiber(scheduler& owner, stack&& memory, void* callable, function call) noexcept
    : owner_(owner),
      memory_(std::move(memory)),
      callable_(callable),
      call_(call),
      context_(memory_.bottom(), static_cast<std::byte*>(callable), &fiber::main, this) {}

fiber* fiber::current() noexcept {
  scheduler* mine = scheduler::current();
  if (mine == nullptr) return nullptr;
  return mine->running_;
}

fiber::whereabouts fiber::where() const noexcept {
  return {this, &owner_.running_, context_.left_at(), memory_.bottom(), memory_.top()};
}

void fiber::wake() noexcept {
  if (scheduler::current() == &owner_) {
    owner_.make_ready(*this);
  } else {
    owner_.wake_from_elsewhere(*this);
  }
}

void fiber::main(void* self) noexcept {
  fiber& mine = *static_cast<fiber*>(self);
  try {
    mine.call_(mine.callable_, task::run_and_destroy);
  } catch (...) {
    mine.owner_.keep(std::current_exception());
  }
  mine.owner_.finish(mine);
}

void scheduler::keep(std::exception_ptr failure) noexcept {
  if (!failure_) failure_ = std::move(failure);
}

void scheduler::finish(fiber& ended) noexcept {
  ended_ = &ended;
  ended.context_.leave_for(*home_);
}

}  // namespace weft
