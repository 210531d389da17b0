#include <algorithm>
#include <cstddef>
#include <weft/schedules/tree_reduce.hpp>

#include "arguments.hpp"
#include "emitter.hpp"

namespace weft::schedules {
namespace {

/// Two sums: one is made while the other is sent.
constexpr std::uint32_t sums_at_once = 2;

class reduction {
 public:
  reduction(const tree_position& place, const pipeline& by, sink& to)
      : place_(place),
        by_(by),
        operands_(place.children.size() * by.segments),
        window_(static_cast<std::uint32_t>(std::min<std::size_t>(by.window, operands_))),
        sums_(keeps_sum() || operands_ == 0 ? 0 : std::min(sums_at_once, by.segments)),
        to_(to, cut()),
        received_(operands_, no_step) {}

  void emit() {
    if (operands_ == 0 && keeps_sum()) {
      to_.copy(in_input(vector()), in_output(vector()), {});
      return;
    }
    for (std::size_t i = 0; i < window_; ++i) receive(i, no_step);
    std::vector<step_index> sent(by_.segments, no_step), result(by_.segments, no_step);
    for (std::uint32_t j = 0; j < by_.segments; ++j) {
      const made own = sum(j, j >= sums_ && sums_ > 0 ? sent[j - sums_] : no_step);
      if (keeps_sum()) continue;
      sent[j] = to_.send(place_.parent, operands_ == 0 ? in_input({j, 1}) : sum_of(j), {own.whole});
      if (place_.result_from == -1) continue;
      // The output may be the input's memory: the result comes when this rank's operand has been read.
      const step_index read = operands_ == 0 ? sent[j] : own.input_read;
      const step_index earlier = j >= by_.window ? result[j - by_.window] : no_step;
      result[j] = to_.receive(place_.result_from, in_output({j, 1}), {read, earlier});
    }
  }

 private:
  /// Steps after which the own operand may be overwritten, and after which the sum is whole.
  struct made {
    step_index input_read = no_step;
    step_index whole = no_step;
  };

  bool keeps_sum() const { return place_.parent == -1; }
  block_range vector() const { return {0, by_.segments}; }

  layout cut() const {
    const bool root = keeps_sum() || place_.result_from != -1;
    return {1, by_.segments, vector(), root ? vector() : block_range{}, window_ + sums_, operands_ == 0 ? 0u : 1u};
  }

  int child(std::size_t operand) const { return place_.children[operand % place_.children.size()]; }

  segment slot(std::size_t operand) const {
    const auto block = static_cast<std::uint32_t>(operand / place_.children.size());
    return in_scratch(static_cast<std::uint32_t>(operand % window_), {block, 1});
  }

  segment sum_of(std::uint32_t block) const {
    return keeps_sum() ? in_output({block, 1}) : in_scratch(window_ + block % sums_, {block, 1});
  }

  void receive(std::size_t operand, step_index slot_read) {
    received_[operand] = to_.receive(child(operand), slot(operand), {slot_read});
  }

  /// Combines all operands of a block, the first one when the sum's memory is free, and posts receives into the slots
  /// read.
  made sum(std::uint32_t block, step_index memory_free) {
    const std::size_t children = place_.children.size();
    made steps{no_step, memory_free};
    for (std::size_t i = 0; i < children; ++i) {
      const std::size_t operand = block * children + i;
      const segment own = i == 0 ? in_input({block, 1}) : sum_of(block);
      const bool in_front = child(operand) < place_.rank;
      steps.whole = to_.combine(in_front ? slot(operand) : own, in_front ? own : slot(operand), sum_of(block),
                                {received_[operand], steps.whole});
      if (i == 0) steps.input_read = steps.whole;
      if (operand + window_ < operands_) receive(operand + window_, steps.whole);
    }
    return steps;
  }

  const tree_position& place_;
  pipeline by_;
  std::size_t operands_;  // children's, block by block, child by child
  std::uint32_t window_;
  std::uint32_t sums_;
  emitter to_;
  std::vector<step_index> received_;
};

}  // namespace

void tree_reduce(const tree_position& place, const pipeline& by, sink& to) {
  check_pipeline(by);
  reduction(place, by, to).emit();
}

}  // namespace weft::schedules
