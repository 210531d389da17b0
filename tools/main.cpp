// The `weft` command: each subcommand is in a folder of its own.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <utility>
#include <weft/command_line/subcommands.hpp>
#include <weft/runtime/limits.hpp>

int main(int argc, char** argv) {
  CLI::App app("weft: fibers over a fabric, for programs of many ranks", "weft");
  app.set_version_flag("--version", "weft " WEFT_VERSION);
  app.require_subcommand(1);
  app.get_formatter()->column_width(40);
  int status = 0;
  weft::tools::add_run(app, status);
  weft::tools::add_agent(app, status);
  weft::tools::add_bench(app, status);
  weft::tools::add_info(app, status);
  weft::tools::add_plan(app, status);
  weft::tools::add_sim(app);
  weft::tools::add_noise(app);
  weft::tools::add_tune(app, status);
  try {
    auto arguments = weft::tools::without_marker_before_program(app, {argv + 1, argv + argc});
    std::ranges::reverse(arguments);  // as CLI11 wants them
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& failure) {
    return app.exit(failure) == 0 ? 0 : 2;
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "weft: the memory does not suffice: operator new: %s (errno %d)%s\n", std::strerror(ENOMEM),
                 ENOMEM, weft::limit_behind(ENOMEM, "operator new").c_str());
    return 1;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "weft: %s\n", failure.what());
    return 1;
  }
  return status;
}
