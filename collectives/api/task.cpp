// SPDX-License-Identifier: Apache-2.0
#include <weft/calls/pending.hpp>
#include <weft/runtime/error.hpp>
#include <weft/task.hpp>

namespace weft::detail {

bool is_over(pending* operation) noexcept { return operation == nullptr || operation->done().ready(); }

void refuse_empty_task() {
  throw error(errc::invalid_argument, "a task that holds no coroutine: it was awaited, run or moved away already");
}

void task_base::begin(task_loop& in, joined& with, task_base*& holder) noexcept {
  loop_ = &in;
  with_ = &with;
  holder_ = &holder;
  in.add_ready(*this);
}

void task_base::wait_for(pending& operation) noexcept {
  awaits_ = &operation;
  operation.add_waiter(*this);
  loop_->add_waiting(*this);
}

void task_base::stop_waiting() noexcept {
  if (awaits_ == nullptr) return;
  awaits_->remove_waiter(*this);
  lose_operation();
}

void task_base::drop() noexcept {
  for (task_base* one = this; one != nullptr;) {
    joined& with = *one->with_;
    *one->holder_ = nullptr;
    one->destroy();
    one = --with.left == 0 ? with.by : nullptr;
  }
}

// Whoever awaits it is resumed by the loop, not in here: one task after another takes no stack.
void task_base::end() noexcept {
  if (--with_->left == 0 && with_->by != nullptr) loop_->add_ready(*with_->by);
}

task_loop::~task_loop() {
  for (ring_link* ring : {&ready_, &waiting_})
    while (&ring->next() != ring) static_cast<task_base&>(ring->next()).drop();
}

void task_loop::run() {
  waited_together waited("run_tasks");
  for (;;) {
    while (&ready_.next() != &ready_) {
      auto& next = static_cast<task_base&>(ready_.next());
      next.leave();
      next.resume();
    }
    if (&waiting_.next() == &waiting_) return;
    waited.clear();
    for (ring_link *each = &waiting_.next(), *next; each != &waiting_; each = next) {
      next = &each->next();
      auto& one = static_cast<task_base&>(*each);
      if (!is_over(one.awaits())) {
        waited.add(*one.awaits());
        continue;
      }
      one.stop_waiting();
      add_ready(one);
    }
    if (&ready_.next() == &ready_) waited.wait();
  }
}

}  // namespace weft::detail
