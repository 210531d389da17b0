// A sink that keeps one rank's schedule in memory.
#pragma once

#include <span>
#include <unordered_map>
#include <utility>
#include <weft/schedules/schedule.hpp>

namespace weft::schedules {

/// Builds a `schedule`. The k-th send or notify to a peer gets ordinal k, and so does the k-th receive or await from
/// it. For one thread at a time.
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
  std::uint32_t next_ordinal(step_kind kind, std::int32_t peer);

  schedule built_;
  std::unordered_map<std::int32_t, std::uint32_t> outgoing_;  // sends and notifies to each peer so far
  std::unordered_map<std::int32_t, std::uint32_t> incoming_;  // receives and awaits from each peer so far
};

/// The schedule that `builder`, called with a sink&, emits.
template <class Builder>
schedule built_by(Builder&& builder) {
  schedule_sink into;
  std::forward<Builder>(builder)(static_cast<sink&>(into));
  return into.take();
}

}  // namespace weft::schedules
