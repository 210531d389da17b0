// `weft sim`: how long a collective would take on a machine that is not there.
#pragma once

namespace CLI {
class App;
}

namespace weft::tools {

/// Adds the subcommand.
void add_sim(CLI::App& weft);

}  // namespace weft::tools
