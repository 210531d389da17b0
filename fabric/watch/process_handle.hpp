// SPDX-License-Identifier: Apache-2.0
// A descriptor that tells the end of a process on the same host.
#pragma once

#include <weft/fabric/process_record.hpp>
#include <weft/runtime/socket.hpp>

namespace weft::fabric {

/// A pidfd of the process that `record` speaks of, readable once it has ended. Empty if that process is not on the host
/// of `own`, is the same process, or cannot be told apart from a later one with its number.
file_descriptor open_process(const process_record& record, const process_record& own);

/// Whether the process that `record` speaks of is on the host of `own` and has ended, a zombie or gone. False where
/// that cannot be told.
bool has_ended(const process_record& record, const process_record& own);

/// Whether that process is stopped, or a debugger has it: then it may be silent for as long as that lasts. False where
/// that cannot be told, of a process that is not on the host of `own`, say.
bool is_held(const process_record& record, const process_record& own);

}  // namespace weft::fabric
