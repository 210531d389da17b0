// `weft tune`: measures what messages and kernels cost here, into a file by which jobs choose algorithms.
#pragma once

namespace CLI {
class App;
}

namespace weft::tools {

/// Adds the subcommand. Called by itself it starts a job of `weft tune`; called as a process of a job it is one of that
/// job's ranks. Leaves the exit status in `status`.
void add_tune(CLI::App& weft, int& status);

}  // namespace weft::tools
