// SPDX-License-Identifier: Apache-2.0
// The table of calls, on every road within a process, between those of a node, and between nodes.
#include <string>

#include "call_table.hpp"
#include "joined_job.hpp"
#include "run_ranks.hpp"
#include "sanitized.hpp"

using namespace weft_test;

namespace {

struct shape {
  std::string nodes;  ///< a letter for each process
  int ranks;          ///< of each
  int workers;
  bool node;
  weft::progress_mode progress;
};

job job_of(const shape& of) {
  job what = joined_job(static_cast<int>(of.nodes.size()), of.ranks, of.workers);
  for (const char letter : of.nodes) what.nodes.emplace_back(1, letter);
  what.settings.node = of.node;
  what.settings.progress = of.progress;
  return what;
}

shape any_shape() {
  constexpr auto caller = weft::progress_mode::caller, thread = weft::progress_mode::thread;
  return GENERATE_COPY(
      shape{"a", 1, 1, true, caller}, shape{"a", 4, 1, true, caller}, shape{"a", 5, 2, true, thread},
      shape{"aaaa", 1, 1, true, caller}, shape{"aaa", 1, 1, true, thread}, shape{"aa", 3, 2, true, caller},
      shape{"aaaa", 1, 1, false, caller}, shape{"aa", 2, 2, false, thread}, shape{"aabb", 1, 1, true, caller},
      shape{"abab", 1, 1, true, thread}, shape{"aab", 2, 1, true, thread}, shape{"aabb", 2, 2, true, caller});
}

}  // namespace

TEST_CASE("the rows of the table of calls give the serial result", "[table]") {
  const shape of = any_shape();
  const auto rows = drawn_rows(slowed ? 44 : 165, seed_of_this_run() + of.nodes.size() * 8 + of.workers);
  CAPTURE(of.nodes, of.ranks, of.workers, of.node);
  run_with_runtime(job_of(of), [&](weft::runtime& runtime, weft::communicator& world) {
    check_rows(runtime, world, rows, seed_of_this_run());
  });
}

TEST_CASE("the rows of the table of calls give the serial result while others are in flight", "[table]") {
  const shape of = any_shape();
  const auto rows = drawn_rows(slowed ? 22 : 110, seed_of_this_run() + of.nodes.size() * 8 + of.workers + 1000);
  CAPTURE(of.nodes, of.ranks, of.workers, of.node);
  run_with_runtime(job_of(of), [&](weft::runtime& runtime, weft::communicator& world) {
    overlap_rows(runtime, world, rows, seed_of_this_run());
  });
}
