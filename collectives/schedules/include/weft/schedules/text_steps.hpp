// A sink that writes one rank's steps for people.
#pragma once

#include <functional>
#include <string_view>
#include <weft/schedules/schedule.hpp>

namespace weft::schedules {

/// A line a step, as it is emitted; only the lines that `write` keeps are held.
///
///     0  send     to 1    input 0
///     1  receive  from 3  -> scratch[0] 3
///     2  combine  input 3 + scratch[0] 3 -> output 3  after 1
class text_steps final : public sink {
 public:
  explicit text_steps(std::function<void(std::string_view line)> write) : write_(std::move(write)) {}
  void begin(const layout& cut) override;
  step_index emit(step_kind kind, std::int32_t peer, std::span<const segment> sources, std::span<const segment> targets,
                  std::span<const step_index> after) override;

 private:
  std::function<void(std::string_view line)> write_;
  step_index next_ = 0;
};

}  // namespace weft::schedules
