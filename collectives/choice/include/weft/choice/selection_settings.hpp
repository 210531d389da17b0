// SPDX-License-Identifier: Apache-2.0
// What the options say about the choice of algorithms.
#pragma once

#include <string>
#include <weft/runtime/options.hpp>
#include <weft/schedules/selection.hpp>

namespace weft::detail {

/// What the options say about the choice of algorithms. Throws errc::invalid_argument where one names an algorithm that
/// its collective has not: with where it came from, and the names that there are.
schedules::selection_parameters selection_of(const options& settings);

/// The option's value of the algorithm for `kind`, a name or auto.
std::string& algorithm_option(options& settings, schedules::collective kind);

/// The names that `kind`'s option takes, auto first.
std::string algorithm_names(schedules::collective kind);

}  // namespace weft::detail
