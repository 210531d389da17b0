// SPDX-License-Identifier: Apache-2.0
// Copies and combines of an execution, whose sources may be other ranks'.
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <string>
#include <weft/executor/execution.hpp>
#include <weft/fabric/process_memory.hpp>
#include <weft/request/combine_inputs.hpp>
#include <weft/runtime/copy_bytes.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/trace.hpp>

namespace weft::detail {
namespace {

/// Copies a row of bytes to several places, or several places to a row.
void copy_parts(std::span<const bound_segment> sources, std::span<const bound_segment> targets, const bases& memory,
                std::size_t element_bytes) noexcept {
  const bool gathers = targets.size() == 1;
  const std::byte* source = memory.read(sources[0]);
  std::byte* target = memory.write(targets[0]);
  for (const auto& part : gathers ? sources : targets) {
    const std::size_t bytes = part.count * element_bytes;
    if (gathers)
      source = memory.read(part);
    else
      target = memory.write(part);
    copy_bytes(target, source, bytes);
    source += bytes;
    target += bytes;
  }
}

}  // namespace

void run_local(const bound_schedule& plan, const bound_step& step, const bases& memory, const user_function& custom) {
  if (step.bytes == 0) return;
  const auto sources = plan.sources_of(step);
  const trace::part recorded(trace::kind::step, step.kind == schedules::step_kind::copy ? "copy" : "combine",
                             step.bytes);
  if (step.kind == schedules::step_kind::copy) {
    const auto targets = plan.targets_of(step);
    if (sources.size() + targets.size() > 2) return copy_parts(sources, targets, memory, plan.element_bytes);
    const std::byte* const source = memory.read(sources[0]);
    std::byte* const target = memory.write(targets[0]);
    copy_bytes(target, source, step.bytes);
    return;
  }
  std::array<const void*, 16> operands;
  for (std::size_t i = 0; i < sources.size(); ++i) operands[i] = memory.read(sources[i]);
  combine_operands(plan, std::span(operands).first(sources.size()), memory.write(step.target), step.target.count,
                   memory, custom);
}

void combine_operands(const bound_schedule& plan, std::span<const void*> operands, std::byte* target, std::size_t count,
                      const bases& memory, const user_function& custom) {
  const trace::kernel_part recorded(custom.apply == nullptr ? plan.combine : nullptr, count * plan.element_bytes);
  if (custom.apply != nullptr)
    combine(custom, operands, target, count, plan.element_bytes,
            {memory.scratch + plan.between_offset, plan.between_bytes});
  else
    plan.combine(operands.data(), operands.size(), target, count);
}

struct execution::unreadable {
  int process;
  bool ended;  ///< that process has
  std::exception_ptr failure;
};

int execution::process_of(std::uint32_t offer) const noexcept {
  const int peer = plan_->steps[plan_->offers[offer]].peer;
  return member_.members->process[static_cast<std::size_t>(peer)];
}

const std::byte* execution::fetched(const bound_segment& from, std::size_t first, std::size_t count, std::byte* into) {
  const std::size_t element = plan_->element_bytes, bytes = count * element;
  if (from.offer == bound_segment::own) return memory_.read(from) + first * element;
  const int process = process_of(from.offer);
  const memory_offer& offer = offers_[from.offer];
  const std::size_t offset = from.offset + first * element;
  const bool fixed = arguments_.custom.apply != nullptr;  // the caller's operator is given nothing that may yet change
  try {
    if (const std::byte* const found = others_.find(process, offer, offset, bytes, fixed)) return found;
  } catch (const error&) {
    throw unreadable{process, false, std::current_exception()};
  }
  if (const auto why = others_.read(process, offer, offset, {into, bytes})) throw refused(from.offer, why);
  return into;
}

void execution::confirm(std::span<const bound_segment> sources) {
  for (const bound_segment& each : sources) {
    if (each.offer == bound_segment::own) continue;
    if (const auto why = others_.look(process_of(each.offer), offers_[each.offer], member_.members->communicator))
      throw refused(each.offer, why);
  }
}

execution::unreadable execution::refused(std::uint32_t offer, std::error_code why) const {
  const int process = process_of(offer), peer = plan_->steps[plan_->offers[offer]].peer;
  const std::string what =
      why.value() == ECANCELED
          ? "process " + std::to_string(process) + " has left a call while others read its memory"
          : "the memory of process " + std::to_string(process) + " cannot be read: process_vm_readv: " + why.message();
  if (why.value() == ESRCH)
    return {process, true,
            std::make_exception_ptr(peer_lost(member_.members->world[static_cast<std::size_t>(peer)], what))};
  return {process, false, std::make_exception_ptr(error(errc::operation_failed, what))};
}

void execution::run_step(const bound_step& step) {
  const auto sources = plan_->sources_of(step);
  const auto is_others = [](const bound_segment& from) { return from.offer != bound_segment::own; };
  if (step.bytes == 0 || std::ranges::none_of(sources, is_others))
    return run_local(*plan_, step, memory_, arguments_.custom);
  if (step.kind == schedules::step_kind::combine) return combine_fetched(step);
  std::byte* const target = memory_.write(plan_->targets_of(step)[0]);
  const std::byte* const from = fetched(sources[0], 0, sources[0].count, target);
  copy_bytes(target, from, step.bytes);
  confirm(sources);
}

void execution::combine_fetched(const bound_step& step) {
  const auto sources = plan_->sources_of(step);
  const std::size_t element = plan_->element_bytes;
  const std::size_t room = plan_->pieces_bytes / sources.size() / element;
  std::array<const void*, 16> operands;
  std::size_t some = 0;
  for (std::size_t done = 0; done < step.target.count; done += some) {
    some = std::min(room, step.target.count - done);
    std::byte* into = memory_.scratch + plan_->pieces_offset;
    for (std::size_t i = 0; i < sources.size(); ++i, into += some * element)
      operands[i] = fetched(sources[i], done, some, into);
    if (arguments_.custom.apply != nullptr) confirm(sources);
    combine_operands(*plan_, std::span(operands).first(sources.size()), memory_.write(step.target) + done * element,
                     some, memory_, arguments_.custom);
  }
  if (arguments_.custom.apply == nullptr) confirm(sources);
}

void execution::run_locally(schedules::step_index i) noexcept {
  if (poison_ != nullptr && poisoned_[i]) return;
  try {
    return run_step(plan().steps[i]);
  } catch (const unreadable& why) {
    return give_up(why);
  } catch (...) {
    if (!threw_here_) poison_failure_ = std::current_exception();
  }
  threw_here_ = true;
  poisoned_[i] = true;
  if (poison_ == nullptr)
    poison_ = std::make_shared<const fabric::poison>(fabric::poison{member_.rank, message_of(poison_failure_)});
}

void execution::give_up(const unreadable& why) noexcept {
  if (!why.ended) {
    refused_ = why.failure;
    refusal_holds_from_ = std::chrono::steady_clock::now() + fabric::time_to_explain;
    return;
  }
  if (failure_ == nullptr) failure_ = why.failure;
  hold([&] { messages_.suspect_held(why.process, message_of(why.failure)); });
}

bool execution::settle_refusal() noexcept {
  if (failure_ == nullptr) failure_ = member_.failure;
  if (failure_ == nullptr && std::chrono::steady_clock::now() >= refusal_holds_from_) {
    failure_ = refused_;
    messages_.break_held(member_.members->communicator, refused_);
  }
  if (failure_ == nullptr) return false;
  refused_ = nullptr;
  return true;
}

}  // namespace weft::detail
