// SPDX-License-Identifier: Apache-2.0
// Every algorithm of every collective, on some numbers of ranks, against the serial result.
#include <algorithm>
#include <random>
#include <weft/choice/selection_settings.hpp>
#include <weft/schedules/algorithms.hpp>

#include "algorithm_settings.hpp"
#include "collective_cases.hpp"
#include "run_ranks.hpp"
#include "sanitized.hpp"
#include "thorough.hpp"

using namespace weft_test;
using weft::schedules::collective;

namespace {

/// Of each algorithm, number of ranks and count.
constexpr int cases = slowed ? 1 : 2;

std::vector<collective> all_collectives() {
  std::vector<collective> all;
  for (std::size_t i = 0; i < weft::schedules::collectives; ++i) all.push_back(static_cast<collective>(i));
  return all;
}

class sampler {
 public:
  explicit sampler(std::uint64_t seed) : random_(seed) {}

  /// A call of `what` whose other arguments are drawn.
  collective_case draw(collective what, std::size_t count, int ranks) {
    static const weft::reduction_operator operators[] = {weft::sum, weft::product, weft::min, weft::max};
    collective_case c;
    c.what = what;
    c.count = count;
    c.type = static_cast<element>(random_() % elements);
    c.op = operators[random_() % std::size(operators)];
    c.root = static_cast<int>(random_() % static_cast<std::uint64_t>(ranks));
    c.in_place = random_() % 2 == 0;
    c.uneven = weft::schedules::has_blocks(what) && random_() % 2 == 0;
    const auto form = random_() % 3;
    c.started = form == 0;
    c.planned = form == 1;
    c.seed = random_();
    return c;
  }
  std::uint64_t below(std::uint64_t end) { return random_() % end; }

 private:
  std::mt19937_64 random_;
};

std::vector<std::size_t> counts_for(int ranks) {
  const auto n = static_cast<std::size_t>(ranks);
  std::vector<std::size_t> counts{0, 1, n - 1, n, n + 1, 1000};
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

/// So many that a vector of them is sent in pieces and segments.
std::size_t long_count(collective what, int ranks) {
  return weft::schedules::has_blocks(what) ? 20'011 / static_cast<std::size_t>(ranks) : 20'011;
}

}  // namespace

TEST_CASE("every algorithm gives the serial result", "[results]") {
  std::mt19937_64 random(seed_of_this_run());
  const std::vector<int> all = slowed ? std::vector{1, 4, 5} : std::vector{1, 2, 3, 4, 5, 6, 7, 8, 9};
  for (const auto& by : weft::schedules::algorithms()) {
    for (const int ranks : drawn(all, 4, random)) {
      INFO(name(by.kind) << " by " << by.name);
      const auto settings = settings_for(by, ranks);
      run_ranks(ranks, 1, settings, [&](weft::communicator& world) {
        sampler any(seed_of_this_run());
        for (const std::size_t count : counts_for(world.size()))
          for (int i = 0; i < cases; ++i) check_case(world, any.draw(by.kind, count, world.size()));
        check_case(world, any.draw(by.kind, long_count(by.kind, world.size()), world.size()));
      });
    }
  }
}

TEST_CASE("every collective gives the serial result by the algorithm that is chosen", "[results]") {
  const int ranks = GENERATE(1, 2, 3, 5, 8);
  const auto progress = GENERATE(weft::progress_mode::caller, weft::progress_mode::thread);
  weft::options settings;
  settings.progress = progress;
  run_ranks(ranks, 1, settings, [](weft::communicator& world) {
    sampler any(seed_of_this_run() + 1);
    for (const collective what : all_collectives()) {
      for (const std::size_t count : counts_for(world.size())) check_case(world, any.draw(what, count, world.size()));
      check_case(world, any.draw(what, long_count(what, world.size()), world.size()));
    }
  });
}

TEST_CASE("every algorithm gives the serial result where nothing is posted in advance", "[results]") {
  for (const auto& by : weft::schedules::algorithms()) {
    INFO(name(by.kind) << " by " << by.name);
    auto settings = small_limits();
    settings.prepost = false;
    weft::detail::algorithm_option(settings, by.kind) = by.name;
    run_ranks(GENERATE(2, 5), 1, settings, [&](weft::communicator& world) {
      sampler any(seed_of_this_run() + 4);
      check_case(world, any.draw(by.kind, 1000, world.size()));
      check_case(world, any.draw(by.kind, long_count(by.kind, world.size()), world.size()));
    });
  }
}

TEST_CASE("every collective among 64 fibers gives the serial result", "[results]") {
  run_ranks(1, 64, small_limits(), [](weft::communicator& world) {
    sampler any(seed_of_this_run() + 2);
    for (const collective what : all_collectives())
      for (const std::size_t count : {3u, 200u}) check_case(world, any.draw(what, count, world.size()));
  });
}

TEST_CASE("algorithms with groups take the processes of a node, and rows where told", "[results]") {
  for (const auto& by : weft::schedules::algorithms()) {
    const bool takes_groups = (by.parameters & weft::schedules::takes::groups) != 0;
    if (!takes_groups || by.pattern != weft::schedules::memory_pattern::none) continue;
    INFO(name(by.kind) << " by " << by.name);
    auto settings = small_limits();
    weft::detail::algorithm_option(settings, by.kind) = by.name;
    settings.group_ranks = GENERATE(0, 2);
    run_ranks(3, 3, settings, [&](weft::communicator& world) {
      sampler any(seed_of_this_run() + 3);
      auto shuffled = world.split(0, world.rank() * 5 % world.size());
      for (const std::size_t count : {std::size_t{10}, std::size_t{1000}}) {
        check_case(world, any.draw(by.kind, count, world.size()));
        check_case(*shuffled, any.draw(by.kind, count, world.size()));
      }
    });
  }
}

TEST_CASE("every collective, started several at a time, gives the serial result", "[results]") {
  run_ranks(4, 1, small_limits(), [](weft::communicator& world) {
    const auto n = static_cast<std::size_t>(world.size());
    const std::vector<std::int64_t> mine(300, world.rank() + 1), blocks(300 * n, world.rank() + 1);
    std::vector<std::int64_t> all(300 * n), exchanged(300 * n), sums(300), share(300);
    std::vector<weft::handle> running;
    running.push_back(world.iallgather(mine, all));
    running.push_back(world.ialltoall(blocks, exchanged));
    running.push_back(world.iscan(mine, sums, weft::sum));
    running.push_back(world.ireduce_scatter(blocks, share, weft::sum));
    weft::wait_all(running);
    for (std::size_t i = 0; i < all.size(); ++i)
      expect(all[i] == static_cast<std::int64_t>(i / 300) + 1 && exchanged[i] == all[i], "block by block, element ", i);
    for (std::size_t i = 0; i < 300; ++i)
      expect(sums[i] == (world.rank() + 1) * (world.rank() + 2) / 2 && share[i] == 10, "the sums, element ", i);
  });
}

TEST_CASE("reproducible sums scatter and scan", "[results]") {
  run_ranks(3, 1, small_limits(), [](weft::communicator& world) {
    const auto n = static_cast<std::size_t>(world.size());
    const std::vector<std::size_t> counts{2, 0, 5};
    const std::size_t own = counts[static_cast<std::size_t>(world.rank())];
    const std::vector<double> in(7, world.rank() + 1.0);
    std::vector<double> out(own, -1), even(n, -1), so_far(7, -1);
    world.reduce_scatter(in, out, weft::reproducible_sum, counts);
    expect(std::all_of(out.begin(), out.end(), [](double x) { return x == 6; }), "this rank's sums to be 6");
    const std::vector<double> halves(n * n, 0.5);
    world.ireduce_scatter(halves, even, weft::reproducible_sum).wait();
    expect(even == std::vector<double>(n, 1.5), "even shares to be 1.5");
    world.exscan(in, so_far, weft::reproducible_sum);
    const double before = world.rank() == 0 ? -1 : world.rank() == 1 ? 1 : 3;
    expect(std::all_of(so_far.begin(), so_far.end(), [=](double x) { return x == before; }), "the sums so far");
  });
}
