// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <weft/executor/execution.hpp>
#include <weft/executor/heap_bytes.hpp>

namespace weft::detail {

namespace {

/// Bytes that copies and combines make before messages have a turn: neither those of this run nor others are to wait
/// for all that has become ready at once.
constexpr std::size_t most_at_once = 256 << 10;

/// Beside what each execution takes.
std::size_t dataflow_bytes(std::size_t steps) noexcept {
  return heap_bytes(sizeof(dataflow_execution)) + heap_bytes(steps * sizeof(std::uint32_t)) +
         heap_bytes(steps * sizeof(schedules::step_index));
}

}  // namespace

dataflow_execution::dataflow_execution(fabric::messenger& messages, fabric::participant& member,
                                       const fabric::arena* shared, std::shared_ptr<const bound_schedule> bound)
    : execution(messages, member, shared, bound, dataflow_bytes(bound->steps.size())),
      waiting_for_(std::make_unique<std::uint32_t[]>(plan().steps.size())),
      ready_(std::make_unique<schedules::step_index[]>(plan().steps.size())) {}

void dataflow_execution::start(const run_arguments& arguments, progress& by) {
  announce(arguments);
  if (by.has_own_core())
    messages_.hand_over(*this);
  else
    messages_.post(*this);
  if (by.threaded()) by.notify();
}

void dataflow_execution::refuse_held(std::exception_ptr why) noexcept {
  failure_ = std::move(why);
  ended();
}

void dataflow_execution::start_held() noexcept {
  arm();
  running_ = true;
  const auto& steps = plan().steps;
  ready_first_ = ready_last_ = done_ = 0;
  in_flight_ = std::exchange(posted_early_, 0);
  for (schedules::step_index i = 0; i < steps.size(); ++i) waiting_for_[i] = steps[i].after.count;
  for (schedules::step_index i = 0; i < steps.size(); ++i)
    if (steps[i].after.count == 0 && (early_ == nullptr || early_[i] == early::no)) take_up(i);
  if (early_ != nullptr) take_early();
  run_ready();
}

void dataflow_execution::take_early() noexcept {
  for (schedules::step_index i = 0; i < plan().steps.size(); ++i) {
    if (early_[i] == early::no) continue;
    fabric::receive_operation& receive = receive_of(i);
    receive.ahead = false;
    if (std::exchange(early_[i], early::no) != early::ended) continue;
    if (receive.failure != nullptr && receive.poisoned == nullptr)
      messages_.break_held(receive.at->members->communicator, receive.failure);
    transfer_is_over(i, receive.failure);
  }
}

void dataflow_execution::post_ahead(const run_arguments& arguments) {
  early_ = std::make_unique<early[]>(plan().steps.size());
  arguments_ = arguments;
  arm();
  messages_.while_held([this] { post_early(); });
}

bool dataflow_execution::can_be_early(const bound_step& step) const noexcept {
  return step.is_transfer() && !step.is_send() && step.after.count == 0 &&
         (step.kind == schedules::step_kind::await || step.bytes == 0 || step.target.in == schedules::buffer::scratch);
}

void dataflow_execution::post_early() noexcept {
  const auto& steps = plan().steps;
  for (schedules::step_index i = 0; i < steps.size(); ++i) {
    if (!can_be_early(steps[i])) continue;
    early_[i] = early::posted;
    ++posted_early_;
    fabric::operation& receive = transfer(i);
    receive.ahead = true;
    messages_.post_held(receive);
  }
}

void dataflow_execution::retire(progress& by) {
  event over;
  messages_.while_held([&] {
    if (posted_early_ == 0) return over.set();
    all_taken_back_ = &over;
    for (schedules::step_index i = 0; i < plan().steps.size(); ++i)
      if (early_[i] == early::posted) messages_.take_back_held(receive_of(i));
  });
  over.wait(by);
}

void dataflow_execution::transfer_ended(schedules::step_index step, const std::exception_ptr& failure) noexcept {
  if (!running_) [[unlikely]] {
    early_[step] = early::ended;
    if (--posted_early_ == 0 && all_taken_back_ != nullptr) all_taken_back_->set();
    return;
  }
  --in_flight_;
  transfer_is_over(step, failure);
  run_ready();
}

void dataflow_execution::transfer_is_over(schedules::step_index step, const std::exception_ptr& failure) noexcept {
  if (failure == nullptr || take_poison(step))
    step_done(step);
  else if (failure_ == nullptr)
    failure_ = failure;
}

void dataflow_execution::step_done(schedules::step_index step) noexcept {
  ++done_;
  for (const auto next : plan().successors_of(plan().steps[step])) {
    follow(step, next);
    if (--waiting_for_[next] == 0) take_up(next);
  }
}

void dataflow_execution::take_up(schedules::step_index step) noexcept {
  if (!plan().steps[step].is_transfer()) {
    ready_[ready_last_++] = step;
  } else if (failure_ == nullptr) {
    ++in_flight_;
    messages_.post_held(transfer(step));
  }
}

void dataflow_execution::run_held() noexcept {
  if (!goes_on_later_) return start_held();
  goes_on_later_ = refused_ != nullptr && !settle_refusal();
  if (goes_on_later_) return messages_.hand_over(*this);
  run_ready();
}

void dataflow_execution::run_ready() noexcept {
  if (goes_on_later_) return;
  const auto& steps = plan().steps;
  std::size_t made = 0;  // bytes
  while (failure_ == nullptr && ready_first_ != ready_last_) {
    if (made >= most_at_once) {
      goes_on_later_ = true;
      return messages_.hand_over(*this);
    }
    const schedules::step_index i = ready_[ready_first_++];
    run_locally(i);
    if (refused_ != nullptr) {
      goes_on_later_ = true;
      return messages_.hand_over(*this);
    }
    made += steps[i].bytes;
    if (failure_ == nullptr) step_done(i);
  }
  if (in_flight_ != 0 || (failure_ == nullptr && done_ != steps.size())) return;
  conclude();
  running_ = false;
  if (early_ != nullptr && failure_ == nullptr) post_early();
  stamp();
  ended();
}

}  // namespace weft::detail
