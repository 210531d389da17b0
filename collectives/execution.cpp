#include "execution.hpp"

#include <cstdlib>
#include <new>
#include <string>

namespace weft::detail {

struct execution::send final : fabric::send_operation {
  void finished() noexcept override { owner->transfer_ended(step, failure); }
  execution* owner = nullptr;
  schedules::step_index step = 0;
};

struct execution::receive final : fabric::receive_operation {
  void finished() noexcept override { owner->transfer_ended(step, failure); }
  execution* owner = nullptr;
  schedules::step_index step = 0;
};

execution::execution(fabric::messenger& messages, fabric::participant& member,
                     std::shared_ptr<const bound_schedule> plan)
    : messages_(messages),
      member_(member),
      plan_(std::move(plan)),
      scratch_(nullptr, [](std::byte* memory) { std::free(memory); }) {
  if (plan_->scratch_bytes != 0) {
    const std::size_t pages = (plan_->scratch_bytes + 4095) / 4096 * 4096;
    scratch_.reset(static_cast<std::byte*>(std::aligned_alloc(4096, pages)));
    if (scratch_ == nullptr) throw std::bad_alloc();
  }
  const auto& steps = plan_->steps;
  index_ = std::make_unique<std::uint32_t[]>(steps.size());
  std::uint32_t sends = 0;
  std::uint32_t receives = 0;
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (is_transfer(steps[i])) index_[i] = is_send(steps[i]) ? sends++ : receives++;
  sends_ = std::make_unique<send[]>(sends);
  receives_ = std::make_unique<receive[]>(receives);
  const auto prepare = [&](auto& operation, schedules::step_index i) {
    operation.owner = this;
    operation.step = i;
    operation.at = &member_;
    operation.peer = steps[i].peer;
    operation.collective = true;
    operation.bytes = steps[i].bytes;
  };
  for (schedules::step_index i = 0; i < steps.size(); ++i) {
    if (!is_transfer(steps[i])) continue;
    if (is_send(steps[i]))
      prepare(sends_[index_[i]], i);
    else
      prepare(receives_[index_[i]], i);
  }
}

execution::~execution() = default;

void execution::arm(const run_arguments& arguments) {
  arguments_ = arguments;
  memory_ = {arguments.input, arguments.output, scratch_.get()};
  failure_ = nullptr;
}

bool execution::run_locally(const bound_step& step) noexcept {
  std::string why;
  try {
    run_local(plan(), step, memory_, arguments_.custom);
    return true;
  } catch (const std::exception& thrown) {
    why = std::string(": ") + thrown.what();
    failure_ = std::current_exception();
  } catch (...) {
    failure_ = std::current_exception();
  }
  messages_.break_later(member_.members->communicator, errc::operation_failed,
                        "the operator of rank " + std::to_string(member_.rank) + " threw" + why);
  return false;
}

fabric::operation& execution::transfer(schedules::step_index i) noexcept {
  const bound_step& step = plan_->steps[i];
  const auto address = [&](fabric::operation& o) {
    o.tag = static_cast<std::uint64_t>(arguments_.sequence) << 32 | step.ordinal;
    o.fingerprint = arguments_.fingerprint;
  };
  if (is_send(step)) {
    send& o = sends_[index_[i]];
    address(o);
    o.data = step.bytes == 0 ? nullptr : memory_.read(plan_->sources_of(step)[0]);
    return o;
  }
  receive& o = receives_[index_[i]];
  address(o);
  o.data = step.bytes == 0 ? nullptr : memory_.write(step.target);
  return o;
}

}  // namespace weft::detail
