// SPDX-License-Identifier: Apache-2.0
// From a call to the plan that makes it again and again.
#pragma once

#include <memory>
#include <weft/calls/planned_collective.hpp>

namespace weft::detail {

/// A plan of `call`, which all ranks make: in the checked mode they agree on it.
std::unique_ptr<planned_collective> make_plan(const std::shared_ptr<communicator_state>& of, const request& call);

}  // namespace weft::detail
