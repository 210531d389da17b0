// SPDX-License-Identifier: Apache-2.0
// What was measured of a machine, by which algorithms are chosen: what roads and kernels cost, as a value and as text.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <weft/kernels/types.hpp>
#include <weft/schedules/machine_costs.hpp>

namespace weft::detail {

struct tuning {
  schedules::machine_costs machine;  ///< its limits without handshake are the job's, and no part of the text
  /// Seconds for each byte of an operand.
  std::map<std::pair<kernels::operation, kernels::type>, double> combine;
};

/// Seconds to combine a byte. What was not measured costs what an operator of its kind does on that type; failing that,
/// as operators of the caller's do, the most of all.
double combine_seconds(const tuning& of, kernels::operation op, kernels::type type);
double combine_seconds_of_custom(const tuning& of);

/// A line "KEY = SECONDS" for each parameter, with six digits that count: "node.latency = 7.1e-07" (the members of
/// schedules::road_costs), "combine.sum.float = 5.2e-11". Lines of `comment`, if any, come first, behind "# ".
std::string to_text(const tuning& of, std::string_view comment = {});

/// The inverse. Blank lines, and what follows a #, say nothing. Throws errc::invalid_argument with "NAME:LINE: " and
/// the reason for a line that is neither, an unknown key, one that is there twice, a value that is no time, and what is
/// missing: all of a road's parameters, one road, or one kernel.
tuning parse_tuning(std::string_view text, const std::string& name);

/// The same of a part of what a job measures: nothing need be there.
tuning parse_tuning_part(std::string_view text, const std::string& name);

/// As parse_tuning, of a file. Throws errc::invalid_argument, too, if it cannot be read.
tuning read_tuning(const std::string& file);

}  // namespace weft::detail
