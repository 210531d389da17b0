// What the options say about the choice of algorithms.
#pragma once

#include <weft/runtime/options.hpp>
#include <weft/schedules/selection.hpp>

namespace weft::detail {

/// The parameters of `schedules::select_...` that these options, the same on every rank, stand for.
schedules::selection_parameters selection_of(const options& settings);

}  // namespace weft::detail
