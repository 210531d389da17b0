// The last word of a process that failed to its process manager.
#pragma once

#include <string>

namespace weft {

/// Has this process, when it exits with `status`, say what `message` makes of it over `descriptor`, which it owns. For
/// a status of success it is EXIT_FAILURE's.
void abort_pmi_at_exit(int descriptor, std::string (*message)(int status)) noexcept;

}  // namespace weft
