// SPDX-License-Identifier: Apache-2.0
// The costs of a simulated machine, as they were measured of a real one.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>
#include <weft/simulator/model.hpp>

namespace weft::tools {

struct tuned_model {
  std::string file, road;  ///< as they are given
  CLI::Option* tuning = nullptr;
  std::vector<CLI::Option*> of_tuning;  ///< what goes with a file only
  struct parameter {
    CLI::Option* given;
    double simulator::machine_model::*value;
  };
  std::vector<parameter> measured;  ///< what a file says, unless its option does
};

/// Adds --tuning and --road.
void add_tuning_options(CLI::App& app, tuned_model& line);

/// Sets what the file says and no option does, in nanoseconds: L, o, g and G of the road, and c of a sum of floats.
/// Throws CLI::ValidationError for a road that the file has not, and for --road without a file; what read_tuning throws
/// for a file that is none.
void take_measured(const tuned_model& line, simulator::machine_model& model);

}  // namespace weft::tools
