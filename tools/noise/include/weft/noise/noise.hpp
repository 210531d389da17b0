// `weft noise`: how quiet each processor is.
#pragma once

namespace CLI {
class App;
}

namespace weft::tools {

/// Adds the subcommand.
void add_noise(CLI::App& weft);

}  // namespace weft::tools
