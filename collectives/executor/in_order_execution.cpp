// SPDX-License-Identifier: Apache-2.0
#include <weft/executor/execution.hpp>
#include <weft/executor/heap_bytes.hpp>
#include <weft/runtime/patience.hpp>
#include <weft/runtime/trace.hpp>

namespace weft::detail {

namespace {

/// Beside what each execution takes.
std::size_t in_order_bytes(std::size_t steps) noexcept {
  return heap_bytes(sizeof(in_order_execution)) + heap_bytes(steps * sizeof(event)) +
         heap_bytes(sizeof(std::size_t) + steps * sizeof(std::exception_ptr)) + heap_bytes(steps * sizeof(bool));
}

}  // namespace

in_order_execution::in_order_execution(fabric::messenger& messages, fabric::participant& member,
                                       const fabric::arena* shared, std::shared_ptr<const bound_schedule> bound)
    : execution(messages, member, shared, bound, in_order_bytes(bound->steps.size())),
      done_(std::make_unique<event[]>(plan().steps.size())),
      failures_(std::make_unique<std::exception_ptr[]>(plan().steps.size())),
      posted_(std::make_unique<bool[]>(plan().steps.size())) {}

void in_order_execution::transfer_ended(schedules::step_index step, const std::exception_ptr& failure) noexcept {
  if (failure != nullptr) failures_[step] = failure;
  done_[step].set();
}

void in_order_execution::post(schedules::step_index step) {
  posted_[step] = true;
  messages_.post(transfer(step));
}

void in_order_execution::await(schedules::step_index step, progress& by) {
  const ticks since = trace::begin_wait();
  done_[step].wait(by);
  trace::note_wait(since, rank_in_job(plan().steps[step].peer));
}

bool in_order_execution::wait_for(schedules::step_index step, progress& by) {
  if (!plan().steps[step].is_transfer()) return true;
  if (!done_[step].ready()) await(step, by);
  if (failures_[step] == nullptr) [[likely]]
    return true;
  return take_poison(step);
}

void in_order_execution::await_settlement(progress& by) {
  look_for(by, [this] {
    bool is_settled = false;
    hold([&] { is_settled = settle_refusal(); });
    return is_settled;
  });
}

void in_order_execution::run_steps(progress& by) {
  const auto& steps = plan().steps;
  for (schedules::step_index i = 0; i < steps.size(); ++i)
    if (steps[i].is_transfer() && !steps[i].is_send() && steps[i].after.count == 0) post(i);
  for (schedules::step_index i = 0; i < steps.size(); ++i) {
    if (posted_[i]) continue;
    for (const auto before : plan().after(steps[i])) {
      if (!wait_for(before, by)) return;
      follow(before, i);
    }
    if (steps[i].is_transfer()) {
      post(i);
      continue;
    }
    run_locally(i);
    if (refused_ != nullptr) await_settlement(by);
    if (failure_ != nullptr) return;
  }
}

void in_order_execution::run(const run_arguments& arguments, progress& by) {
  arguments_ = arguments;
  arm();
  run_steps(by);
  for (schedules::step_index i = 0; i < plan().steps.size(); ++i) {
    if (!posted_[i]) continue;
    if (!done_[i].ready()) await(i, by);
    if (failures_[i] != nullptr && !take_poison(i) && failure_ == nullptr) failure_ = failures_[i];
    failures_[i] = nullptr;
    posted_[i] = false;
    done_[i].reset();
  }
  conclude();
}

}  // namespace weft::detail
