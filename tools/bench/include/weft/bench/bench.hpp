// `weft bench`: times a collective, by the method of the usual MPI benchmarks.
#pragma once

namespace CLI {
class App;
}

namespace weft::tools {

/// Adds the subcommand. Called by itself it starts a job of `weft bench`; called as a process of a job it is one of
/// that job's ranks. Leaves the exit status in `status`.
void add_bench(CLI::App& weft, int& status);

}  // namespace weft::tools
