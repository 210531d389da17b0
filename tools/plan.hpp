// `weft plan`: shows what a collective would do, without doing it.
#pragma once

namespace CLI {
class App;
}

namespace weft::tools {

/// Adds the subcommand.
void add_plan(CLI::App& weft);

}  // namespace weft::tools
