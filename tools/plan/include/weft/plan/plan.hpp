// `weft plan`: shows what a collective would do, without doing it.
#pragma once

namespace CLI {
class App;
}

namespace weft::tools {

/// Adds the subcommand, which sets `status` when a plan does not verify.
void add_plan(CLI::App& weft, int& status);

}  // namespace weft::tools
