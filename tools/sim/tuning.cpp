// SPDX-License-Identifier: Apache-2.0
#include "tuning.hpp"

#include <weft/algorithms/measured_road.hpp>
#include <weft/choice/network_costs.hpp>
#include <weft/choice/tuning.hpp>

namespace weft::tools {

using simulator::machine_model;

void add_tuning_options(CLI::App& app, tuned_model& line) {
  line.tuning =
      app.add_option("--tuning", line.file,
                     "What `weft tune` measured, in place of 0: L, o, g and G of a road, c of a sum of floats")
          ->type_name("FILE");
  line.of_tuning = {add_road_option(app, line.road)};
}

void take_measured(const tuned_model& line, machine_model& model) {
  if (line.file.empty()) {
    for (const CLI::Option* const option : line.of_tuning)
      if (option->count() > 0)
        throw CLI::ValidationError(option->get_name(), "only a file of costs has roads: --tuning FILE");
    return;
  }
  const detail::tuning measured = detail::read_tuning(line.file);
  const schedules::road over = road_named(line.road).value_or(longest_of(measured.machine));
  const auto& costs = measured.machine[over];
  if (!costs) throw CLI::ValidationError("--road", line.file + " says nothing of the road " + std::string(name(over)));
  const machine_model found =
      detail::model_of(*costs, combine_seconds(measured, kernels::operation::sum, kernels::type::float32));
  for (const auto& [given, value] : line.measured)
    if (given->count() == 0) model.*value = found.*value * 1e9;
}

}  // namespace weft::tools
