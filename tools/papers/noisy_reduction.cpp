// SPDX-License-Identifier: Apache-2.0
#include "noisy_reduction.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <weft/schedules/regular_trees.hpp>
#include <weft/simulator/simulate.hpp>
#include <weft/simulator/workload_builder.hpp>

namespace weft::tools {
namespace {

using simulator::operation;
using simulator::operation_kind;
using simulator::step_index;

constexpr int degree = 4;
constexpr double noise_period = 125e6, noise_duration = 175e3;  ///< nanoseconds

std::uint64_t nanoseconds(double microseconds) { return static_cast<std::uint64_t>(std::llround(microseconds * 1000)); }

operation message(operation_kind kind, int peer) {
  operation what;
  what.kind = kind;
  what.peer = peer;
  return what;
}

operation calculation(std::uint64_t time) {
  operation what;
  what.amount = time;
  return what;
}

/// One rank's steps. A message takes no processor, so that the barrier, by way of the root, is as one of the network.
class rank_steps {
 public:
  rank_steps(const schedules::tree_position& place, int ranks, const schedules::reception_costs& costs,
             simulator::workload_builder& to)
      : place_(place), ranks_(ranks), costs_(costs), to_(to) {}

  void emit() {
    after(calculation(1));  // the processor is there
    if (place_.parent == -1)
      barrier_of_root();
    else
      barrier_of_others();
    after(calculation(nanoseconds(costs_.initial)));
    for (const int child : place_.children) {
      const step_index received = to_.add(message(operation_kind::receive, child), {});
      const step_index both[] = {received, last_};
      last_ = to_.add(calculation(nanoseconds(costs_.reception + costs_.combination)), both);
    }
    if (place_.parent != -1) after(message(operation_kind::send, place_.parent));
    to_.end_rank();
  }

 private:
  /// A step behind the last one.
  void after(const operation& what) {
    const step_index before[] = {last_};
    last_ = to_.add(what, std::span(before, any_ ? 1 : 0));
    any_ = true;
  }
  void barrier_of_root() {
    std::vector<step_index> here{last_};
    for (int rank = 1; rank < ranks_; ++rank) here.push_back(to_.add(message(operation_kind::receive, rank), {}));
    for (int rank = 1; rank < ranks_; ++rank) {
      last_ = to_.add(message(operation_kind::send, rank), here);
      here = {last_};
    }
  }
  void barrier_of_others() {
    after(message(operation_kind::send, 0));
    after(message(operation_kind::receive, 0));
  }

  const schedules::tree_position& place_;
  int ranks_;
  const schedules::reception_costs& costs_;
  simulator::workload_builder& to_;
  step_index last_ = 0;
  bool any_ = false;
};

simulator::workload reduction_behind_barrier(int nodes, const schedules::reception_costs& costs) {
  simulator::workload_builder to;
  for (int rank = 0; rank < nodes; ++rank) {
    const auto place = schedules::fnomial_position(nodes, 0, degree, rank);
    rank_steps(place, nodes, costs, to).emit();
  }
  return to.finish();
}

/// When the barrier ended: when the first of those that it let go began.
class first_begin final : public simulator::observer {
 public:
  explicit first_begin(std::uint64_t initial) : initial_(initial) {}
  void happened(const simulator::activity& what) override {
    if (what.kind == simulator::activity_kind::compute && what.rank != 0 && what.amount == initial_)
      time_ = std::min(time_, what.start);
  }
  double time() const { return time_; }

 private:
  std::uint64_t initial_;
  double time_ = std::numeric_limits<double>::infinity();
};

}  // namespace

std::vector<double> noisy_reductions(int nodes, const noisy_machine& on, int samples) {
  const simulator::workload all = reduction_behind_barrier(nodes, on.costs);
  simulator::machine_model model;
  model.latency = static_cast<double>(nanoseconds(on.costs.latency));
  model.noise.period = noise_period;
  model.noise.duration = noise_duration;
  model.noise.progress_thread = on.on_nic;
  std::vector<double> times;
  for (int seed = 1; seed <= samples; ++seed) {
    model.noise.seed = static_cast<std::uint64_t>(seed);
    first_begin begin(nanoseconds(on.costs.initial));
    times.push_back((simulator::simulate(all, model, nullptr, &begin).completion - begin.time()) / 1000);
  }
  return times;
}

}  // namespace weft::tools
