// SPDX-License-Identifier: Apache-2.0
// A sink that keeps one rank's schedule in memory.
#pragma once

#include <span>
#include <utility>
#include <weft/schedules/message_ordinals.hpp>
#include <weft/schedules/schedule.hpp>

namespace weft::schedules {

/// Builds a `schedule`, whose messages are numbered by message_ordinals. For one thread at a time.
class schedule_sink final : public sink {
 public:
  void begin(const layout& cut) override;
  /// Throws std::invalid_argument when `after` names a step that is not earlier, std::length_error for more steps than
  /// a step_index can count.
  step_index emit(step_kind kind, std::int32_t peer, std::span<const segment> sources, std::span<const segment> targets,
                  std::span<const step_index> after) override;

  const schedule& result() const noexcept { return built_; }
  /// Hands over what has been emitted; the sink is empty afterwards.
  schedule take();

 private:
  schedule built_;
  message_ordinals ordinals_;
};

/// The schedule that `builder`, called with a sink&, emits.
template <class Builder>
schedule built_by(Builder&& builder) {
  schedule_sink into;
  std::forward<Builder>(builder)(static_cast<sink&>(into));
  return into.take();
}

}  // namespace weft::schedules
