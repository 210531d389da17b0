// SPDX-License-Identifier: Apache-2.0
#include <weft/calls/pending.hpp>
#include <weft/task.hpp>

namespace weft::detail {

bool is_over(pending* operation) noexcept { return operation == nullptr || operation->done().ready(); }

void task_base::begin(task_loop& in, joined& with) noexcept {
  loop_ = &in;
  with_ = &with;
  in.add_ready(*this);
}

void task_base::wait_for(pending& operation) noexcept {
  awaits_ = &operation;
  loop_->add_waiting(*this);
}

// Whoever awaits it is resumed by the loop, not in here: one task after another takes no stack.
void task_base::end() noexcept {
  if (--with_->left == 0 && with_->by != nullptr) loop_->add_ready(*with_->by);
}

task_loop::~task_loop() {
  for (ring_link* ring : {&ready_, &waiting_})
    while (&ring->next() != ring) ring->next().leave();
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
      if (is_over(one.awaits()))
        add_ready(one);
      else
        waited.add(*one.awaits());
    }
    if (&ready_.next() == &ready_) waited.wait();
  }
}

}  // namespace weft::detail
