#include "arguments.hpp"

#include <CLI/CLI.hpp>
#include <cmath>
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

}  // namespace

arguments parse_arguments(int argc, char** argv) {
  arguments given;
  CLI::App app{
      "Solves a sparse symmetric positive definite system by conjugate gradients with the Jacobi preconditioner.\n"
      "Start it on several ranks by: weft run -n 4 cg --stencil 32",
      "cg"};
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
  app.add_flag("--check", given.check, "solve the system on rank 0 alone too, and compare");
  app.add_flag("--json", given.json, "print one JSON object instead of text");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    given.help = app.help();
    return given;
  } catch (const CLI::ParseError& error) {
    throw std::runtime_error(std::string(error.what()) + " (cg --help lists what there is)");
  }
  if (file->count() + stencil->count() != 1) {
    throw std::runtime_error("give a Matrix Market file or --stencil N, one of the two (cg --help says more)");
  }
  return given;
}

}  // namespace cg
