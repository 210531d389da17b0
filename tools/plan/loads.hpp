// SPDX-License-Identifier: Apache-2.0
// What an algorithm sends through the links of a network.
#pragma once

#include <string>

#include "explain.hpp"
#include "job.hpp"

namespace weft::tools {

/// Of every link through which messages of the job go, each way: its bytes and messages in all, and the most messages
/// of one round, each of which takes as many times longer. A round is as in draw_rounds; where no bytes were given the
/// vector has 8. As a table of a line for a link and direction, or as JSON: `links` has an object for each, with the
/// keys link (the lower end), above, direction (up or down), bytes, messages and at_once.
std::string loads_of(const plan_job& job, const call_network& on, bool as_json);

}  // namespace weft::tools
