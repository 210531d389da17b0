// SPDX-License-Identifier: Apache-2.0
#include "arguments.hpp"

#include <CLI/CLI.hpp>
#include <cmath>
#include <optional>
#include <stdexcept>

namespace cg {

namespace {

CLI::Validator positive_number() {
  return CLI::Validator(
      [](std::string& text) {
        double value = 0;
        const bool right = CLI::detail::lexical_cast(text, value) && std::isfinite(value) && value > 0;
        return right ? std::string() : "\"" + text + "\" is not a positive number";
      },
      "");
}

CLI::Validator integer_between(std::int64_t least, std::int64_t most) {
  return CLI::Validator(
      [least, most](std::string& text) {
        std::int64_t value = 0;
        const bool right = CLI::detail::lexical_cast(text, value) && least <= value && value <= most;
        return right
                   ? std::string()
                   : "\"" + text + "\" is not an integer from " + std::to_string(least) + " to " + std::to_string(most);
      },
      "");
}

/// "3@40"
std::optional<std::pair<int, int>> parse_death(const std::string& text) {
  std::pair<int, int> its;
  const auto at = text.find('@');
  const bool right = at != std::string::npos && CLI::detail::lexical_cast(text.substr(0, at), its.first) &&
                     CLI::detail::lexical_cast(text.substr(at + 1), its.second) && its.first >= 0 && its.second >= 0;
  return right ? std::optional(its) : std::nullopt;
}

CLI::Validator rank_at_iteration() {
  return CLI::Validator(
      [](std::string& text) {
        return parse_death(text) ? std::string() : "\"" + text + "\" is not a rank and an iteration, as in 3@40";
      },
      "");
}

}  // namespace

arguments parse_arguments(int argc, char** argv, program of) {
  arguments given;
  const bool resilient = of == program::resilient_cg;
  const std::string name = resilient ? "resilient_cg" : "cg";
  CLI::App app{
      "Solves a sparse symmetric positive definite system by conjugate gradients with the Jacobi preconditioner.\n" +
          std::string(resilient ? "It goes on where processes die. Start it on several ranks by: weft run -n 8 "
                                  "--spares 2 resilient_cg --stencil 32"
                                : "Start it on several ranks by: weft run -n 4 cg --stencil 32"),
      name};
  const auto file =
      app.add_option("MATRIX", given.matrix,
                     "Matrix Market coordinate file (real or integer, general or symmetric); every entry of "
                     "the right-hand side is 1")
          ->type_name("FILE");
  const auto stencil =
      app.add_option("--stencil", given.stencil,
                     "instead of a file: HPCG's 27-point problem on N x N x N points, whose solution is 1")
          ->type_name("N")
          ->check(integer_between(1, 10'000));
  app.add_option("--tolerance", given.stop.tolerance, "relative residual to stop at [1e-8]")
      ->type_name("R")
      ->check(positive_number());
  app.add_option("--max-iterations", given.stop.max_iterations, "give up after so many [10000]")
      ->type_name("N")
      ->check(integer_between(1, 1'000'000'000));
  std::vector<std::string> deaths;
  std::string halo;
  if (!resilient)
    app.add_option("--halo", halo,
                   "how neighbours get each other's entries: by messages, or by notified puts into their memory "
                   "[messages]")
        ->check(CLI::IsMember({"messages", "puts"}));
  if (resilient) {
    app.add_option("--save-every", given.save_every, "give others copies of the vectors after so many iterations [50]")
        ->type_name("N")
        ->check(integer_between(1, 1'000'000'000));
    app.add_option("--disk", given.directory,
                   "keep the latest copies in files there, too, and begin with what is there; all ranks see it")
        ->type_name("DIR")
        ->check(CLI::ExistingDirectory);
    app.add_option("--kill", deaths, "to see it: process of rank R of the world kills itself at iteration I")
        ->type_name("R@I")
        ->check(rank_at_iteration());
  }
  app.add_flag("--check", given.check, "solve the system on rank 0 alone too, and compare");
  app.add_flag("--json", given.json, "print one JSON object instead of text");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    given.help = app.help();
    return given;
  } catch (const CLI::ParseError& error) {
    throw std::runtime_error(std::string(error.what()) + " (" + name + " --help lists what there is)");
  }
  given.puts = halo == "puts";
  for (const std::string& each : deaths) given.deaths.push_back(parse_death(each).value());
  if (file->count() + stencil->count() != 1) {
    throw std::runtime_error("give a Matrix Market file or --stencil N, one of the two (" + name +
                             " --help says more)");
  }
  return given;
}

}  // namespace cg
