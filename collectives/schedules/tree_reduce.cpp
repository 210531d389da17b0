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
        segments_(by.segments),
        operands_(place.children.size() * by.segments),
        window_(static_cast<std::uint32_t>(std::min<std::size_t>(by.window, operands_))),
        sums_(place.parent == -1 || operands_ == 0 ? 0 : std::min(sums_at_once, by.segments)),
        to_(to, cut()),
        received_(operands_, no_step) {}

  void emit() {
    const block_range vector{0, segments_};
    if (operands_ == 0 && place_.parent == -1) {
      to_.copy(in_input(vector), in_output(vector), {});
      return;
    }
    for (std::size_t i = 0; i < window_; ++i) receive(i, no_step);
    std::vector<step_index> sent(segments_, no_step);
    for (std::uint32_t j = 0; j < segments_; ++j) {
      const step_index summed = sum(j, j >= sums_ && sums_ > 0 ? sent[j - sums_] : no_step);
      const segment result = operands_ == 0 ? in_input({j, 1}) : sum_of(j);
      if (place_.parent != -1) sent[j] = to_.send(place_.parent, result, {summed});
    }
  }

 private:
  layout cut() const {
    const block_range vector{0, segments_};
    return {
        1, segments_, vector, place_.parent == -1 ? vector : block_range{}, window_ + sums_, operands_ == 0 ? 0u : 1u};
  }

  segment slot(std::size_t operand) const {
    const auto block = static_cast<std::uint32_t>(operand / place_.children.size());
    return in_scratch(static_cast<std::uint32_t>(operand % window_), {block, 1});
  }

  segment sum_of(std::uint32_t block) const {
    return place_.parent == -1 ? in_output({block, 1}) : in_scratch(window_ + block % sums_, {block, 1});
  }

  void receive(std::size_t operand, step_index slot_read) {
    received_[operand] = to_.receive(place_.children[operand % place_.children.size()], slot(operand), {slot_read});
  }

  /// Combines all operands of a block, the first one when the sum's memory is free, and posts receives into the slots
  /// read.
  step_index sum(std::uint32_t block, step_index memory_free) {
    const std::size_t children = place_.children.size();
    step_index last = memory_free;
    for (std::size_t child = 0; child < children; ++child) {
      const std::size_t operand = block * children + child;
      const segment own = child == 0 ? in_input({block, 1}) : sum_of(block);
      last = to_.combine(own, slot(operand), sum_of(block), {received_[operand], last});
      if (operand + window_ < operands_) receive(operand + window_, last);
    }
    return last;
  }

  const tree_position& place_;
  std::uint32_t segments_;
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
