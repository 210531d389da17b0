// SPDX-License-Identifier: Apache-2.0
// The table of algorithms, for people and programs.
#pragma once

#include <optional>
#include <string>
#include <weft/schedules/algorithms.hpp>

namespace weft::tools {

/// "kept", "kept for root 0", ...
std::string_view text_of(schedules::rank_order order);

/// Three lines an algorithm: its name, the options that it takes and its source; what it costs; whether operands are
/// combined in the order of the ranks. Of one collective, or of all.
std::string list_as_text(std::optional<schedules::collective> of);
/// An array of an object an algorithm, with the keys collective, name, parameters, source, formula, rank_order.
std::string list_as_json(std::optional<schedules::collective> of);

/// A line an algorithm: its name, the options that it takes, its source.
std::string short_list();

}  // namespace weft::tools
