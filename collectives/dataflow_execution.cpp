#include <utility>

#include "execution.hpp"

namespace weft::detail {

dataflow_execution::dataflow_execution(fabric::messenger& messages, fabric::participant& member,
                                       std::shared_ptr<const bound_schedule> bound)
    : execution(messages, member, std::move(bound)),
      waiting_for_(std::make_unique<std::uint32_t[]>(plan().steps.size())),
      ready_(std::make_unique<schedules::step_index[]>(plan().steps.size())) {}

void dataflow_execution::start(const run_arguments& arguments, progress& by) {
  announce();
  if (by.has_own_core()) {
    handed_over_ = arguments;
    messages_.hand_over(*this);
  } else {
    messages_.while_held([this, &arguments] { start_held(arguments); });
  }
  if (by.threaded()) by.notify();
}

void dataflow_execution::refuse_held(std::exception_ptr why) noexcept {
  failure_ = std::move(why);
  ended();
}

void dataflow_execution::start_held(const run_arguments& arguments) noexcept {
  arm(arguments);
  running_ = true;
  const auto& steps = plan().steps;
  ready_first_ = ready_last_ = done_ = 0;
  in_flight_ = std::exchange(posted_early_, 0);
  for (schedules::step_index i = 0; i < steps.size(); ++i) {
    waiting_for_[i] = steps[i].after.count;
    if (waiting_for_[i] == 0 && (early_ == nullptr || early_[i] == early::no)) ready_[ready_last_++] = i;
  }
  if (early_ != nullptr) {
    for (schedules::step_index i = 0; i < steps.size(); ++i)
      if (std::exchange(early_[i], early::no) == early::ended) transfer_is_over(i, receive_of(i).failure);
  }
  run_ready();
}

void dataflow_execution::post_ahead(const run_arguments& arguments) {
  early_ = std::make_unique<early[]>(plan().steps.size());
  arm(arguments);
  messages_.while_held([this] { post_early(); });
}

bool dataflow_execution::can_be_early(const bound_step& step) const noexcept {
  return is_transfer(step) && !is_send(step) && step.after.count == 0 &&
         (step.bytes == 0 || step.target.in == schedules::buffer::scratch);
}

void dataflow_execution::post_early() noexcept {
  const auto& steps = plan().steps;
  for (schedules::step_index i = 0; i < steps.size(); ++i) {
    if (!can_be_early(steps[i])) continue;
    early_[i] = early::posted;
    ++posted_early_;
    messages_.post_held(transfer(i));
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
    if (--waiting_for_[next] == 0) ready_[ready_last_++] = next;
  }
}

void dataflow_execution::run_ready() noexcept {
  const auto& steps = plan().steps;
  while (failure_ == nullptr && ready_first_ != ready_last_) {
    const schedules::step_index i = ready_[ready_first_++];
    if (is_transfer(steps[i])) {
      ++in_flight_;
      messages_.post_held(transfer(i));
    } else {
      run_locally(i);
      step_done(i);
    }
  }
  if (in_flight_ != 0 || (failure_ == nullptr && done_ != steps.size())) return;
  conclude();
  running_ = false;
  if (early_ != nullptr && failure_ == nullptr) post_early();
  stamp();
  ended();
}

}  // namespace weft::detail
