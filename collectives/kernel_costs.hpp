// What kernels cost, measured in this thread.
#pragma once

#include <map>
#include <utility>
#include <weft/kernels/combine.hpp>

namespace weft::detail {

/// Seconds for each byte of an operand, for operands that stay in the first cache: of every kernel in about so many
/// seconds, or where these are few, of one operator of each kind on each type.
std::map<std::pair<kernels::operation, kernels::type>, double> measure_kernels(double budget);

}  // namespace weft::detail
