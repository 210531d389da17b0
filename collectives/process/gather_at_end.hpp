// SPDX-License-Identifier: Apache-2.0
// What each process of a job has to say at its end, brought to one of them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>
#include <weft/fabric/group.hpp>
#include <weft/fabric/messenger.hpp>
#include <weft/runtime/progress.hpp>

namespace weft::detail {

/// By each process that leaves the job, once in it: gathers `mine`, of the same length on all of them, at the lowest
/// process that lives. There it returns what each has said, nothing for one that is lost, on the way, too; on the
/// others nothing at all. `processes` has one rank for each. Blocks until this process's part is done: nobody waits for
/// who is lost. Throws what a message ends with that no loss explains.
std::vector<std::vector<std::byte>> gather_at_end(fabric::messenger& messages, progress& by,
                                                  const fabric::group& processes, std::span<const std::byte> mine);

}  // namespace weft::detail
