// SPDX-License-Identifier: Apache-2.0
// Which of the roads that were measured a command goes by.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <weft/schedules/machine_costs.hpp>

namespace weft::tools {

/// Adds --road, which sets `name`.
CLI::Option* add_road_option(CLI::App& app, std::string& name);

/// The road of that name; nothing where none was named.
std::optional<schedules::road> road_named(const std::string& name);

/// The longest that was measured.
schedules::road longest_of(const schedules::machine_costs& machine);

}  // namespace weft::tools
