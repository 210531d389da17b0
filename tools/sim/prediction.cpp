// SPDX-License-Identifier: Apache-2.0
#include "prediction.hpp"

#include <weft/schedules/machine_costs.hpp>

namespace weft::tools {

std::optional<double> predicted_time(const sim_job& job, const simulator::machine_model& model) {
  using schedules::road;
  if (job.how->pattern != schedules::memory_pattern::none || model.ports != simulator::port_model::pipelined ||
      model.overhead_per_byte > 0)
    return std::nullopt;
  const double handshake = model.preposted ? 0 : 2 * model.latency;
  schedules::machine_costs machine;
  machine[road::fabric] = {model.latency, model.overhead, model.gap, model.gap_per_byte, model.gap_per_byte, handshake};
  machine.eager = static_cast<double>(model.eager_limit);
  const double combine = schedules::combines(job.how->kind) ? model.compute_per_byte : 0;
  const schedules::path_costs each = path_of(machine, road::fabric, road::fabric, combine);
  return job.how->cost(job.shape, static_cast<double>(job.bytes), each);
}

}  // namespace weft::tools
