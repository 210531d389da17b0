// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>
#include <weft/executor/execution.hpp>
#include <weft/executor/heap_bytes.hpp>
#include <weft/runtime/error.hpp>

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

execution::execution(fabric::messenger& messages, fabric::participant& member, const fabric::arena* shared,
                     std::shared_ptr<const bound_schedule> plan, std::size_t more)
    : messages_(messages),
      member_(member),
      others_(shared),
      plan_(std::move(plan)),
      sent_(static_cast<std::size_t>(std::ranges::count_if(plan_->steps, &bound_step::is_send))),
      received_(static_cast<std::size_t>(std::ranges::count_if(plan_->steps, &bound_step::is_transfer)) - sent_),
      footprint_(more + own_bytes()),
      charge_(messages.memory(), footprint_, "the run of a collective by messages"),
      scratch_(plan_->scratch_bytes),
      mine_hold_(member.members->communicator) {
  const auto& steps = plan_->steps;
  index_ = std::make_unique<std::uint32_t[]>(steps.size());
  std::uint32_t sends = 0;
  std::uint32_t receives = 0;
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (steps[i].is_transfer()) index_[i] = steps[i].is_send() ? sends++ : receives++;
  sends_ = std::make_unique<send[]>(sent_);
  receives_ = std::make_unique<receive[]>(received_);
  poisoned_ = std::make_unique<bool[]>(steps.size());
  offers_made_ = std::make_unique<memory_offer[]>(plan_->offers_made);
  offers_ = std::make_unique<memory_offer[]>(plan_->offers.size());
  const auto prepare = [&](auto& operation, schedules::step_index i) {
    operation.owner = this;
    operation.step = i;
    operation.at = &member_;
    operation.peer = steps[i].peer;
    operation.collective = true;
    operation.bytes = steps[i].bytes;
    operation.vector = plan_->vector_bytes;
  };
  for (schedules::step_index i = 0; i < steps.size(); ++i) {
    if (!steps[i].is_transfer()) continue;
    if (steps[i].is_send())
      prepare(sends_[index_[i]], i);
    else
      prepare(receives_[index_[i]], i);
  }
}

std::size_t execution::own_bytes() const noexcept {
  constexpr std::size_t length = sizeof(std::size_t);  // before elements that are to be destroyed
  const std::size_t steps = plan_->steps.size();
  return scratch_memory::footprint(plan_->scratch_bytes) + heap_bytes(steps * sizeof index_[0]) +
         heap_bytes(length + sent_ * sizeof(send)) + heap_bytes(length + received_ * sizeof(receive)) +
         heap_bytes(steps * sizeof poisoned_[0]) + heap_bytes(plan_->offers_made * sizeof offers_made_[0]) +
         heap_bytes(plan_->offers.size() * sizeof offers_[0]);
}

execution::~execution() = default;

void execution::arm() {
  memory_ = {arguments_.in, arguments_.out, scratch_.get()};
  failure_ = nullptr;
  poisoned_by_ = nullptr;
  if (plan_->offers_made != 0) mine_hold_.stand();
  if (arguments_.poisoned == nullptr) [[likely]]
    return;
  poison_ = arguments_.poisoned;
  for (schedules::step_index i = 0; i < plan().steps.size(); ++i) {
    const bound_step& step = plan().steps[i];
    if (!step.is_transfer() || step.is_send()) poison(i);
  }
}

void execution::poison(schedules::step_index i) noexcept {
  poisoned_[i] = true;
  if (plan().steps[i].is_send()) sends_[index_[i]].poisoned = poison_;
}

bool execution::take_poison(schedules::step_index i) noexcept {
  if (plan().steps[i].is_send()) return false;
  const receive& ended = receives_[index_[i]];
  if (ended.poisoned == nullptr) return false;
  poisoned_[i] = true;
  if (poison_ != nullptr) return true;
  poison_ = ended.poisoned;
  poison_failure_ = ended.failure;
  return true;
}

void execution::conclude() noexcept {
  if (failure_ != nullptr) mine_hold_.fall();
  if (poison_ == nullptr) return;
  if (threw_here_ || failure_ == nullptr) failure_ = std::move(poison_failure_);
  poisoned_by_ = std::move(poison_);
  poison_failure_ = nullptr;
  poison_ = nullptr;
  threw_here_ = false;
  for (schedules::step_index i = 0; i < plan().steps.size(); ++i) {
    const bound_step& step = plan().steps[i];
    if (std::exchange(poisoned_[i], false) && step.is_transfer())
      (step.is_send() ? static_cast<fabric::operation&>(sends_[index_[i]]) : receives_[index_[i]]).poisoned = nullptr;
  }
}

fabric::receive_operation& execution::receive_of(schedules::step_index i) noexcept { return receives_[index_[i]]; }

fabric::operation& execution::transfer(schedules::step_index i) noexcept {
  const bound_step& step = plan_->steps[i];
  const auto address = [&](fabric::operation& o) {
    const std::uint32_t mark = arguments_.odd ? std::uint32_t{1} << 31 : 0;  // no schedule has so many messages
    o.tag = static_cast<std::uint64_t>(arguments_.sequence) << 32 | mark | step.ordinal;
    o.fingerprint = arguments_.fingerprint;
  };
  if (step.is_send()) {
    send& o = sends_[index_[i]];
    address(o);
    if (step.bytes == 0) return o;
    const bound_segment& source = plan_->sources_of(step)[0];
    o.data = memory_.read(source);
    if (step.kind == schedules::step_kind::send) return o;
    memory_offer& made = offers_made_[step.offer];
    made = others_.offer(memory_.read(source), source.count * plan_->element_bytes, mine_hold_);
    o.data = reinterpret_cast<const std::byte*>(&made);
    return o;
  }
  receive& o = receives_[index_[i]];
  address(o);
  if (step.bytes == 0) return o;
  o.data = step.kind == schedules::step_kind::await ? reinterpret_cast<std::byte*>(&offers_[step.offer])
                                                    : memory_.write(step.target);
  return o;
}

}  // namespace weft::detail
