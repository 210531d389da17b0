// SPDX-License-Identifier: Apache-2.0
// What patterns cost among the processes of a node, found by measuring.
#pragma once

#include <weft/fabric/participant.hpp>

namespace weft::detail {

class node_team;
class process;

/// Finds what patterns cost among the processes of `team`, where the job measures at all and every one of them has a
/// CPU: from then on the team, and all of `host` that are made, go by that. By all of them, as `member`, before any
/// other call. Blocks. Where the communicator fails meanwhile, its next call says so.
void measure_boards(process& host, node_team& team, fabric::participant& member);

}  // namespace weft::detail
