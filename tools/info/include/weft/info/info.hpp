// `weft info`: what weft is, what it found here, and what is set.
#pragma once

namespace CLI {
class App;
}

namespace weft::tools {

/// Adds the subcommand; leaves the exit status in `status`: 1 when no provider could be chosen.
void add_info(CLI::App& weft, int& status);

}  // namespace weft::tools
