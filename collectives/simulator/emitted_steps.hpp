// SPDX-License-Identifier: Apache-2.0
// From schedule builders to workloads.
#pragma once

#include <weft/simulator/workload_builder.hpp>

namespace weft::simulator {

/// Folds what a schedule builder emits into a workload, behind the work that the rank comes from, where it comes later.
class emitted_steps final : public schedules::sink {
 public:
  emitted_steps(const schedules::partition& counts, std::size_t element_size, workload_builder& into,
                double arrival = 0);

  void begin(const schedules::layout& cut) override { cut_ = cut; }
  step_index emit(schedules::step_kind kind, std::int32_t peer, std::span<const schedules::segment> sources,
                  std::span<const schedules::segment> targets, std::span<const step_index> after) override;

  /// Input and output are the same memory: an element of the one is not copied to its place in the other.
  void make_in_place() { in_place_ = true; }

  /// Messages become those of ranks that are alike: of `ranks`, of which this is rank 0.
  void make_alike(likeness how, int ranks) {
    alike_ = how;
    ranks_ = ranks;
  }

 private:
  std::uint64_t bytes(std::span<const schedules::segment> parts) const;
  bool is_there(const schedules::segment& source, const schedules::segment& target) const;

  const schedules::partition& counts_;
  std::size_t element_size_;
  workload_builder& into_;
  schedules::layout cut_;
  step_index behind_ = 0;  ///< so many steps
  bool in_place_ = false;
  likeness alike_ = likeness::none;
  int ranks_ = 0;
};

}  // namespace weft::simulator
