// SPDX-License-Identifier: Apache-2.0
// Workloads from schedule builders.
#include <algorithm>
#include <cmath>
#include <vector>
#include <weft/simulator/workload_builder.hpp>

namespace weft::simulator {
namespace {

/// Folds what a schedule builder emits into a workload, behind the work that the rank comes from, where it comes later.
class emitted_steps final : public schedules::sink {
 public:
  emitted_steps(const schedules::partition& counts, std::size_t element_size, double arrival, workload_builder& into)
      : counts_(counts), element_size_(element_size), into_(into) {
    if (arrival <= 0) return;
    operation work;
    work.kind = operation_kind::calculate;
    work.amount = static_cast<std::uint64_t>(std::llround(arrival));
    into_.add(work, {});
    behind_ = 1;
  }

  void begin(const schedules::layout& cut) override { cut_ = cut; }

  step_index emit(schedules::step_kind kind, std::int32_t peer, std::span<const schedules::segment> sources,
                  std::span<const schedules::segment> targets, std::span<const step_index> after) override {
    operation what;
    what.peer = peer;
    switch (kind) {
      case schedules::step_kind::send:
        what.kind = operation_kind::send;
        what.amount = bytes(sources);
        break;
      case schedules::step_kind::notify:
        what.kind = operation_kind::send;
        break;
      case schedules::step_kind::receive:
        what.kind = operation_kind::receive;
        what.amount = bytes(targets);
        break;
      case schedules::step_kind::await:
        what.kind = operation_kind::receive;
        break;
      case schedules::step_kind::copy:
        what.kind = is_mine(sources[0]) ? operation_kind::combine : operation_kind::fetch;
        what.amount = bytes(targets);
        break;
      case schedules::step_kind::combine:
        what.kind = std::ranges::all_of(sources, is_mine) ? operation_kind::combine : operation_kind::fetch_and_combine;
        what.amount = bytes(targets) * std::max<std::size_t>(1, sources.size() - 1);
        break;
    }
    if (behind_ == 0) return into_.add(what, after);
    std::vector<step_index> ended(after.begin(), after.end());
    for (step_index& each : ended) each += behind_;
    if (ended.empty()) ended.push_back(0);
    return into_.add(what, ended) - behind_;
  }

 private:
  static bool is_mine(const schedules::segment& from) { return from.owner == schedules::me; }

  std::uint64_t bytes(std::span<const schedules::segment> parts) const {
    std::size_t elements = 0;
    for (const schedules::segment& part : parts) elements += counts_.count(cut_, part.elements);
    return elements * element_size_;
  }

  const schedules::partition& counts_;
  std::size_t element_size_;
  workload_builder& into_;
  step_index behind_ = 0;  ///< so many steps
  schedules::layout cut_;
};

}  // namespace

workload workload_of(int ranks, const schedules::partition& counts, std::size_t element_size,
                     const std::function<void(int rank, schedules::sink& to)>& builder,
                     std::span<const double> arrivals) {
  workload_builder into;
  for (int rank = 0; rank < ranks; ++rank) {
    const double arrival = arrivals.empty() ? 0 : arrivals[static_cast<std::size_t>(rank)];
    emitted_steps to(counts, element_size, arrival, into);
    builder(rank, to);
    into.end_rank();
  }
  return into.finish();
}

}  // namespace weft::simulator
