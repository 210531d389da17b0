#include "bound_schedule.hpp"

#include <array>
#include <cstring>

namespace weft::detail {
namespace {

/// Slots of scratch begin on cache lines of their own.
constexpr std::size_t slot_alignment = 64;

class binder {
 public:
  binder(const schedules::layout& cut, std::size_t elements, std::size_t element_bytes)
      : cut_(cut), elements_(elements), element_bytes_(element_bytes) {
    const std::size_t slot = schedules::most_elements(cut, elements, cut.slot_blocks) * element_bytes;
    slot_bytes_ = (slot + slot_alignment - 1) / slot_alignment * slot_alignment;
  }

  std::size_t scratch_bytes() const { return slot_bytes_ * cut_.scratch_slots; }

  bound_segment bind(const schedules::segment& s) const {
    const auto range = schedules::elements_of(cut_, elements_, s.elements);
    bound_segment bound{s.in, 0, range.count};
    switch (s.in) {
      case schedules::buffer::input:
        bound.offset = (range.first - schedules::first_element(cut_, elements_, cut_.input.first)) * element_bytes_;
        break;
      case schedules::buffer::output:
        bound.offset = (range.first - schedules::first_element(cut_, elements_, cut_.output.first)) * element_bytes_;
        break;
      case schedules::buffer::scratch:
        bound.offset = s.slot * slot_bytes_;
        break;
    }
    if (range.count == 0) bound.offset = 0;  // never outside of an empty buffer
    return bound;
  }

 private:
  schedules::layout cut_;
  std::size_t elements_;
  std::size_t element_bytes_;
  std::size_t slot_bytes_ = 0;
};

}  // namespace

bound_schedule::bound_schedule(const schedules::schedule& unbound, std::size_t elements, std::size_t bytes_each,
                               kernels::combine_function function)
    : dependencies(unbound.dependencies), element_bytes(bytes_each), combine(function) {
  const binder bind(unbound.cut, elements, bytes_each);
  scratch_bytes = bind.scratch_bytes();
  sources.reserve(unbound.sources.size());
  for (const auto& each : unbound.sources) sources.push_back(bind.bind(each));
  steps.reserve(unbound.steps.size());
  for (const auto& each : unbound.steps) {
    bound_step step{each.kind, each.peer, each.ordinal, 0, {}, each.sources, each.after, {}};
    const bool carries = each.kind != schedules::step_kind::notify && each.kind != schedules::step_kind::await;
    if (each.kind == schedules::step_kind::send) {
      step.bytes = sources[each.sources.first].count * element_bytes;
    } else if (carries) {
      step.target = bind.bind(each.target);
      step.bytes = step.target.count * element_bytes;
    }
    for (const auto before : after(step)) ++steps[before].successors.count;
    steps.push_back(step);
  }
  std::uint32_t first = 0;
  for (auto& step : steps) {
    step.successors.first = first;
    first += step.successors.count;
    step.successors.count = 0;
  }
  successors.resize(first);
  for (schedules::step_index i = 0; i < steps.size(); ++i)
    for (const auto before : after(steps[i]))
      successors[steps[before].successors.first + steps[before].successors.count++] = i;
}

std::size_t bound_schedule::footprint() const noexcept {
  return sizeof *this + steps.size() * sizeof(bound_step) + sources.size() * sizeof(bound_segment) +
         (dependencies.size() + successors.size()) * sizeof(schedules::step_index);
}

void run_local(const bound_schedule& plan, const bound_step& step, const bases& memory) noexcept {
  if (step.bytes == 0) return;
  const auto sources = plan.sources_of(step);
  std::byte* const target = memory.write(step.target);
  if (step.kind == schedules::step_kind::copy) {
    const std::byte* const source = memory.read(sources[0]);
    if (source != target) std::memcpy(target, source, step.bytes);
    return;
  }
  std::array<const void*, 16> operands;
  for (std::size_t i = 0; i < sources.size(); ++i) operands[i] = memory.read(sources[i]);
  plan.combine(operands.data(), sources.size(), target, step.target.count);
}

}  // namespace weft::detail
