// `weft run`: starts a job.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace weft::tools {

/// Adds the subcommand; when it is called it runs the job and leaves its exit status in `status`.
void add_run(CLI::App& weft, int& status);

/// The arguments of `weft`, its name not among them, without the "--" that may stand between the options of `weft run`
/// and PROGRAM: CLI11 does not expect it before a command that takes the rest. One behind PROGRAM belongs to that.
std::vector<std::string> without_marker_before_program(const CLI::App& weft, std::vector<std::string> arguments);

}  // namespace weft::tools
