// `weft agent`: what `weft run` starts on each host of a job. Not for users.
#pragma once

namespace CLI {
class App;
}

namespace weft::tools {

/// Adds the subcommand, which no help mentions; when it is called it runs until the job is over.
void add_agent(CLI::App& weft, int& status);

}  // namespace weft::tools
