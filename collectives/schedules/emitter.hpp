// SPDX-License-Identifier: Apache-2.0
// What every builder needs to say its steps briefly.
#pragma once

#include <initializer_list>
#include <limits>
#include <span>
#include <vector>
#include <weft/schedules/schedule.hpp>

namespace weft::schedules {

/// In a list of dependencies: none.
inline constexpr step_index no_step = std::numeric_limits<step_index>::max();

/// Sources of one combine.
inline constexpr std::size_t most_sources = 16;

inline segment in_input(block_range elements) { return {me, buffer::input, 0, elements}; }
inline segment in_output(block_range elements) { return {me, buffer::output, 0, elements}; }
inline segment in_scratch(std::uint32_t slot, block_range elements) { return {me, buffer::scratch, slot, elements}; }

/// Emits one step a call, each after the steps that are named and are not `no_step`.
class emitter {
 public:
  using steps = std::initializer_list<step_index>;

  emitter(sink& to, const layout& cut) : to_(to) { to_.begin(cut); }

  step_index send(int peer, const segment& source, steps after) {
    return emit(step_kind::send, peer, {&source, 1}, {}, after);
  }
  step_index receive(int peer, const segment& target, steps after) {
    return emit(step_kind::receive, peer, {}, {&target, 1}, after);
  }
  step_index copy(const segment& source, const segment& target, steps after) {
    return emit(step_kind::copy, -1, {&source, 1}, {&target, 1}, after);
  }
  step_index combine(const segment& first, const segment& second, const segment& target, steps after) {
    const segment sources[] = {first, second};
    return emit(step_kind::combine, -1, sources, {&target, 1}, after);
  }
  step_index notify(int peer, std::span<const step_index> after) {
    return to_.emit(step_kind::notify, peer, {}, {}, after);
  }
  step_index await(int peer) { return to_.emit(step_kind::await, peer, {}, {}, {}); }

 private:
  step_index emit(step_kind kind, std::int32_t peer, std::span<const segment> sources, std::span<const segment> targets,
                  steps after) {
    after_.clear();
    for (const step_index before : after)
      if (before != no_step) after_.push_back(before);
    return to_.emit(kind, peer, sources, targets, after_);
  }

  sink& to_;
  std::vector<step_index> after_;
};

}  // namespace weft::schedules
