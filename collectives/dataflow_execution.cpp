#include "execution.hpp"

namespace weft::detail {

dataflow_execution::dataflow_execution(fabric::messenger& messages, fabric::participant& member,
                                       std::shared_ptr<const bound_schedule> bound)
    : execution(messages, member, std::move(bound)),
      waiting_for_(std::make_unique<std::uint32_t[]>(plan().steps.size())),
      ready_(std::make_unique<schedules::step_index[]>(plan().steps.size())) {}

void dataflow_execution::start(const run_arguments& arguments) {
  arm(arguments);
  finished_.reset();
  const auto& steps = plan().steps;
  ready_first_ = ready_last_ = done_ = in_flight_ = 0;
  for (schedules::step_index i = 0; i < steps.size(); ++i) {
    waiting_for_[i] = steps[i].after.count;
    if (waiting_for_[i] == 0) ready_[ready_last_++] = i;
  }
  messages_.while_held([this] { run_ready(); });
}

void dataflow_execution::transfer_ended(schedules::step_index step, const std::exception_ptr& failure) noexcept {
  --in_flight_;
  if (failure == nullptr || take_poison(step))
    step_done(step);
  else if (failure_ == nullptr)
    failure_ = failure;
  run_ready();
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
  finished_.set();
}

}  // namespace weft::detail
