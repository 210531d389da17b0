// SPDX-License-Identifier: Apache-2.0
// How a process that fails has its launcher end the job.
#pragma once

#include <string>

namespace weft {

/// Launchers drop what they have not read of a process's output when its job is aborted. Writes what stdout still
/// holds, and blocks until it has been read, or some time is over.
void let_output_be_read() noexcept;

/// Has this process, when it exits with `status`, say what `message` makes of it over `descriptor`, which it owns. For
/// a status of success it is EXIT_FAILURE's.
void abort_pmi_at_exit(int descriptor, std::string (*message)(int status)) noexcept;

}  // namespace weft
