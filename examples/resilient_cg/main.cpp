// SPDX-License-Identifier: Apache-2.0
// resilient_cg: conjugate gradients that go on where processes die. Beside what cg does, each rank gives copies of its
// rows of the vectors to two others now and then (copies.hpp), and with --disk writes them into a file. When a process
// is lost the calls of the others throw; they agree on that, make a communicator of those that live, and of spares
// where the job has some, and go on from the latest copies. A job that follows one which has died goes on from the
// files.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <weft/weft.hpp>

#include "agreement.hpp"
#include "arguments.hpp"
#include "conjugate_gradient.hpp"
#include "copies.hpp"
#include "linear_system.hpp"
#include "report.hpp"
#include "serial_check.hpp"

namespace {

/// Ends this process where the command line says so of a rank that was there from the start.
void die_if_told(const cg::arguments& given, const weft::communicator& world, int iterations) {
  if (!world.is_replacement() && std::ranges::count(given.deaths, std::pair(world.rank(), iterations)) != 0)
    ::kill(::getpid(), SIGKILL);
}

std::optional<cg::saved_files> files_of(const cg::arguments& given) {
  if (given.directory.empty()) return std::nullopt;
  return cg::saved_files(given.directory, cg::problem_of(given));
}

std::string listed(std::span<const int> ranks) {
  std::string text;
  for (const int each : ranks) text += (text.empty() ? "" : ", ") + std::to_string(each);
  return text;
}

/// One rank's way to a solution.
class survivor {
 public:
  survivor(weft::communicator& world, const cg::arguments& given)
      : world_(world), given_(given), copies_(files_of(given)), losses_(world.is_replacement() ? 1 : 0) {}

  /// Returns the exit status, the same on every rank that lives.
  int run() {
    for (;;) {
      bool well = true;
      try {
        try_to_solve(all());
      } catch (const weft::peer_lost&) {
        well = false;
      } catch (const cg::agreed_error& error) {
        if (all().rank() == 0) std::fprintf(stderr, "resilient_cg: %s\n", error.what());
        return EXIT_FAILURE;
      }
      const weft::agreed agreed = all().agree(well);
      if (agreed && agreed.missing.empty()) break;
      go_on(agreed.missing);
    }
    if (all().rank() == 0) print();
    return result_.good() ? EXIT_SUCCESS : EXIT_FAILURE;
  }

 private:
  weft::communicator& all() { return now_ ? *now_ : world_; }

  void try_to_solve(weft::communicator& among) {
    std::optional<cg::linear_system> system;
    cg::together(among, [&] { system = cg::make_system(given_, among.rank(), among.size()); });
    cg::iterate now;
    whole_.time([&] {
      auto saved = copies_.restore(among, system->unknowns);
      if (among.rank() == 0 && !given_.json) say_from_where(saved);
      now = saved ? std::move(*saved) : cg::first_iterate(among, system->matrix, system->b, communication_);
      save(among, now, system->unknowns);
      while (!cg::is_over(now, given_.stop)) {
        die_if_told(given_, world_, now.iterations);
        cg::step(among, system->matrix, now, communication_);
        if (now.iterations % given_.save_every == 0) save(among, now, system->unknowns);
      }
    });
    sum_up(among, *system, now);
    if (result_.good()) copies_.forget_files(among);
  }

  void say_from_where(const std::optional<cg::iterate>& saved) const {
    if (!saved && losses_ != 0) std::puts("there are no copies of all rows: from the beginning");
    if (saved && losses_ == 0)
      std::printf("from iteration %d, by the files in %s\n", saved->iterations, given_.directory.c_str());
    std::fflush(stdout);
  }

  void save(weft::communicator& among, const cg::iterate& now, std::int64_t unknowns) {
    copying_.time([&] { copies_.save(among, now, unknowns); });
  }

  void sum_up(weft::communicator& among, cg::linear_system& system, const cg::iterate& now) {
    result_.problem = cg::problem_of(given_);
    result_.ranks = among.size();
    result_.unknowns = system.unknowns;
    result_.nonzeros = among.allreduce(static_cast<std::int64_t>(system.matrix.nonzeros()), weft::sum);
    result_.iterations = now.iterations;
    result_.converged = now.residual <= given_.stop.tolerance;
    result_.residual = now.residual;
    result_.residual_check = cg::relative_residual(among, system.matrix, system.b, now.x);
    result_.seconds = whole_.seconds();
    std::array<double, 2> times{communication_.seconds() / among.size(), copying_.seconds() / among.size()};
    among.allreduce(times, times, weft::sum);
    result_.communication_seconds = times[0];
    result_.copying_seconds = times[1];
    if (!given_.check) return;
    cg::solution solution;
    solution.x = now.x;
    solution.iterations = now.iterations;
    result_.serial = cg::compare_with_serial(
        among, solution, given_.stop, [&] { return cg::rows_of(given_, 0, 1); },
        [&](const cg::sparse_rows& rows) { return cg::right_hand_side_of(given_, rows); });
  }

  void go_on(std::span<const int> lost) {
    const int before = all().size(), rank = all().rank();
    now_ = all().grow();
    ++losses_;
    int first = 0;  // of those that have not been lost
    while (std::ranges::count(lost, first) != 0) ++first;
    if (rank != first || given_.json) return;
    std::printf("lost rank%s %s: %d of %d ranks go on\n", lost.size() == 1 ? "" : "s", listed(lost).c_str(),
                now_->size(), before);
    std::fflush(stdout);
  }

  void print() const {
    given_.json ? cg::print_json(result_) : (cg::print_heading(result_), cg::print_text(result_));
    std::fflush(stdout);
  }

  weft::communicator& world_;
  const cg::arguments& given_;
  std::optional<weft::communicator> now_;  ///< after losses
  cg::copies copies_;
  cg::outcome result_;
  cg::stopwatch whole_, communication_, copying_;  // of all attempts
  int losses_;
};

int run_rank(weft::communicator& world, int argc, char** argv) {
  cg::arguments given;
  const auto parse = [&] { given = cg::parse_arguments(argc, argv, cg::program::resilient_cg); };
  if (world.is_replacement())
    parse();  // as the others did
  else
    cg::together(world, parse);
  if (given.help.empty()) return survivor(world, given).run();
  if (world.rank() == 0) std::fputs(given.help.c_str(), stdout);
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    weft::runtime runtime{argc, argv};
    std::atomic<int> status{EXIT_SUCCESS};  // a spare that nobody needs has done well
    runtime.run([&](weft::communicator& world) {
      try {
        if (const int its = run_rank(world, argc, argv); its != EXIT_SUCCESS) status = its;
      } catch (const cg::agreed_error& error) {
        if (world.rank() == 0) std::fprintf(stderr, "resilient_cg: %s\n", error.what());
        status = EXIT_FAILURE;
      }
    });
    return status;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "resilient_cg: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
