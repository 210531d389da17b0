// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <weft/sim/workload.hpp>

namespace weft::tools {
namespace {

/// What an operand costs, for trees that are made for it.
void set_costs(schedules::algorithm_arguments& of, double vector_bytes, const simulator::machine_model& m) {
  const double bytes = vector_bytes / of.by.segments;
  const double flow = bytes * m.gap_per_byte, overhead = m.overhead + bytes * m.overhead_per_byte;
  const double whole = m.latency + flow + 2 * overhead;
  of.compute = bytes * m.compute_per_byte;
  if (m.ports == simulator::port_model::one) {  // Canon and Antoniu's
    of.transfer = whole;
    return;
  }
  // A rank's processor has a message's overhead and the combine to do before those of the next one.
  of.compute += overhead;
  of.transfer = m.ports == simulator::port_model::many ? 0 : std::max(m.gap, flow);
  of.latency = std::max(0.0, whole - overhead - of.transfer);
}

}  // namespace

simulator::workload workload_of(const sim_job& job, const simulator::machine_model& model) {
  schedules::algorithm_arguments shape = job.shape;
  set_costs(shape, static_cast<double>(job.bytes), model);
  return simulator::workload_of(*job.how, shape, job.bytes);
}

alike_or_all shortest_workload_of(const sim_job& job, const simulator::machine_model& model) {
  const auto& noise = model.noise;
  const bool noise_sets_apart =
      (noise.period > 0 || noise.trace) && noise.phases != simulator::noise_model::phase::coscheduled;
  const auto alike =
      noise_sets_apart ? simulator::likeness::none : simulator::likeness_of(*job.how, job.shape, job.bytes);
  if (alike == simulator::likeness::none) return {alike, workload_of(job, model)};
  return {alike, simulator::workload_of_alike(alike, *job.how, job.shape, job.bytes)};
}

}  // namespace weft::tools
