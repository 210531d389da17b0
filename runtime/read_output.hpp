// What a process does before it has its launcher end the job.
#pragma once

namespace weft {

/// Launchers drop what they have not read of a process's output when its job is aborted: blocks until they have, or
/// some time is over.
void let_output_be_read() noexcept;

}  // namespace weft
