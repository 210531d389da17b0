// SPDX-License-Identifier: Apache-2.0
// What `weft sim` prints.
#pragma once

#include <optional>
#include <string>
#include <weft/simulator/timeline.hpp>

namespace weft::tools {

struct sim_report {
  std::string what;       ///< "reduce binomial", or the name of a GOAL file
  std::size_t bytes = 0;  ///< of the vector; 0: of a GOAL file, nobody knows
  std::uint64_t steps = 0;
  int cpus = 1;        ///< of each rank
  bool alike = false;  ///< all ranks do the same at the same times: the path is told of rank 0
  simulator::simulation result = {};
  std::optional<simulator::critical_path> path = {};  ///< nothing: the job was too large
};

/// For people: the completion, how idle ranks were, and what it hung from.
std::string to_text(const sim_report& report);

/// A time with all its digits, as JSON has it.
std::string exact_text(double time);

/// One JSON object in one line, everything in it.
std::string to_json(const sim_report& report);

}  // namespace weft::tools
