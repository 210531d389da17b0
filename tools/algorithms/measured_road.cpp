// SPDX-License-Identifier: Apache-2.0
#include <weft/algorithms/measured_road.hpp>
#include <weft/command_line/command_line.hpp>

namespace weft::tools {

using schedules::road;

CLI::Option* add_road_option(CLI::App& app, std::string& name) {
  CLI::Option* const option =
      app.add_option("--road", name, "How far the ranks are from each other [the longest measured]");
  choose(option, {"memory", "node", "fabric"});
  return option;
}

std::optional<road> road_named(const std::string& name) {
  for (std::size_t i = 0; i < schedules::roads; ++i)
    if (name == schedules::name(static_cast<road>(i))) return static_cast<road>(i);
  return std::nullopt;
}

road longest_of(const schedules::machine_costs& machine) {
  for (std::size_t i = schedules::roads; i-- > 0;)
    if (machine.by_road[i]) return static_cast<road>(i);
  return road::node;
}

}  // namespace weft::tools
