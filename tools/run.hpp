// `weft run`: starts a job.
#pragma once

namespace CLI {
class App;
}

namespace weft::tools {

/// Adds the subcommand; when it is called it runs the job and leaves its exit status in `status`.
void add_run(CLI::App& weft, int& status);

}  // namespace weft::tools
