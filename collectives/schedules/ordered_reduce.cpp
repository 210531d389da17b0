#include <utility>
#include <vector>
#include <weft/schedules/ordered_reduce.hpp>
#include <weft/schedules/tree_reduce.hpp>

#include "arguments.hpp"
#include "emitter.hpp"

namespace weft::schedules {
namespace {

/// Passes the steps of a reduction to rank 0 on, in which rank 0 and the root have other memory than the builder knows
/// of; and remembers for each block the last step that wrote the result, and those that read the input.
class detour final : public sink {
 public:
  detour(bool from, bool to_here, std::uint32_t blocks, sink& to)
      : from_(from), to_here_(to_here), to_(to), written_(blocks, no_step), read_(blocks) {}

  void begin(const layout& cut) override {
    layout changed = cut;
    if (from_) changed.work = std::exchange(changed.output, {});
    if (to_here_) changed.output = changed.input;
    to_.begin(changed);
  }

  step_index emit(step_kind kind, std::int32_t peer, std::span<const segment> sources, std::span<const segment> targets,
                  std::span<const step_index> after) override {
    const auto here_sources = redirected(sources), here_targets = redirected(targets);
    const step_index made = to_.emit(kind, peer, here_sources, here_targets, after);
    for (const segment& target : here_targets)
      if (target.in == buffer::work) written_[target.elements.first] = made;
    for (const segment& source : here_sources)
      if (source.in == buffer::input) read_[source.elements.first].push_back(made);
    return made;
  }

  void hand_on(int root) {
    for (std::uint32_t j = 0; j < written_.size(); ++j) {
      const segment result{me, buffer::work, 0, {j, 1}};
      to_.emit(step_kind::send, root, {&result, 1}, {}, {&written_[j], 1});
    }
  }

  /// The output may be the input's memory.
  void take() {
    for (std::uint32_t j = 0; j < read_.size(); ++j) {
      const segment result = in_output({j, 1});
      to_.emit(step_kind::receive, 0, {}, {&result, 1}, read_[j]);
    }
  }

 private:
  std::vector<segment> redirected(std::span<const segment> segments) const {
    std::vector<segment> changed(segments.begin(), segments.end());
    for (segment& each : changed)
      if (from_ && each.in == buffer::output) each.in = buffer::work;
    return changed;
  }

  bool from_;
  bool to_here_;
  sink& to_;
  std::vector<step_index> written_;            // of each block
  std::vector<std::vector<step_index>> read_;  // of each block
};

}  // namespace

void ordered_reduce(int ranks, int root, int rank, const pipeline& by, sink& to) {
  check_rank(ranks, root, "root");
  if (root == 0) return binomial_reduce(ranks, 0, rank, by, to);
  check_pipeline(by);
  detour changed(rank == 0, rank == root, by.segments, to);
  binomial_reduce(ranks, 0, rank, by, changed);
  if (rank == 0) changed.hand_on(root);
  if (rank == root) changed.take();
}

}  // namespace weft::schedules
