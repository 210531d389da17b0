// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>

#include "agreement.hpp"
#include "arguments.hpp"
#include "conjugate_gradient.hpp"
#include "linear_system.hpp"
#include "report.hpp"
#include "serial_check.hpp"

namespace {

/// What one rank does. Returns the exit status, the same on every rank.
int run_rank(weft::communicator& world, int argc, char** argv) {
  cg::arguments given;
  // CLI11 takes what errno is after another thread's first use for an error of its own.
  static std::mutex one_at_a_time;
  cg::together(world, [&] {
    const std::lock_guard lock(one_at_a_time);
    given = cg::parse_arguments(argc, argv);
  });
  const bool speaks = world.rank() == 0;
  if (!given.help.empty()) {
    if (speaks) std::fputs(given.help.c_str(), stdout);
    return EXIT_SUCCESS;
  }

  std::unique_ptr<cg::linear_system> system;
  cg::together(
      world, [&] { system = std::make_unique<cg::linear_system>(cg::make_system(given, world.rank(), world.size())); });
  if (given.puts) system->matrix.use_puts(world);
  cg::outcome result;
  result.problem = cg::problem_of(given);
  result.ranks = world.size();
  result.unknowns = system->unknowns;
  result.nonzeros = world.allreduce(static_cast<std::int64_t>(system->matrix.nonzeros()), weft::sum);

  const bool tells = speaks && !given.json;
  if (tells) cg::print_heading(result);
  cg::convergence_log log;
  world.barrier();  // so that nobody's reading counts as somebody's communication
  const cg::solution solution =
      cg::solve(world, system->matrix, system->b, given.stop, [&](int iterations, double residual) {
        if (tells) log(iterations, residual);
      });
  result.iterations = solution.iterations;
  result.converged = solution.converged;
  result.residual = solution.residual;
  result.residual_check = cg::relative_residual(world, system->matrix, system->b, solution.x);
  result.seconds = world.allreduce(solution.seconds, weft::max);
  result.communication_seconds = world.allreduce(solution.communication_seconds / world.size(), weft::sum);

  if (given.check) {
    result.serial = cg::compare_with_serial(
        world, solution, given.stop, [&] { return cg::rows_of(given, 0, 1); },
        [&](const cg::sparse_rows& all) { return cg::right_hand_side_of(given, all); });
  }
  if (speaks) {
    given.json ? cg::print_json(result) : cg::print_text(result);
    std::fflush(stdout);  // a rank whose status is a failure may exit first, and then the launcher ends the others
  }
  return result.good() ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int cg::run(weft::runtime& runtime, int argc, char** argv) {
  std::atomic<int> status = EXIT_SUCCESS;  // of all ranks that this process hosts
  runtime.run([&](weft::communicator& world) {
    try {
      if (run_rank(world, argc, argv) != EXIT_SUCCESS) status = EXIT_FAILURE;
    } catch (const agreed_error& error) {
      if (world.rank() == 0) std::fprintf(stderr, "cg: %s\n", error.what());
      status = EXIT_FAILURE;
    }
  });
  return status;
}
