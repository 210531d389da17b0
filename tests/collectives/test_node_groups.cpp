// SPDX-License-Identifier: Apache-2.0
// Processes of a node that combine in groups. Each is a thread here.
#include <algorithm>
#include <cstdint>
#include <mutex>
#include <numeric>
#include <random>
#include <vector>
#include <weft/team/node_groups.hpp>

#include "node_cases.hpp"
#include "sanitized.hpp"
#include "thorough.hpp"

using namespace weft_test;

using weft::detail::worthwhile_levels;

TEST_CASE("groups leave less to be read, of every process once", "[node]") {
  std::mt19937_64 random(seed_of_this_run());
  CAPTURE(seed_of_this_run());
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<int> seats(4 + random() % 60);
    std::iota(seats.begin(), seats.end(), 0);
    std::vector<std::vector<int>> groups(1 + random() % seats.size());
    for (std::size_t i = 0; i < seats.size(); ++i)
      groups[i < groups.size() ? i : random() % groups.size()].push_back(seats[i]);
    for (const int self : seats) {
      const auto found = worthwhile_levels(groups, static_cast<std::size_t>(self));
      const auto longest = std::ranges::max(groups, {}, [](const auto& each) { return each.size(); }).size();
      REQUIRE(found.has_value() == (longest + groups.size() < seats.size()));
      if (!found) continue;
      CHECK(std::ranges::count(found->beside, static_cast<std::size_t>(self)) == 1);
      REQUIRE(found->across.size() == groups.size());
      for (std::size_t i = 0; i < groups.size(); ++i) {
        const bool own = std::ranges::count(groups[i], self) == 1;
        const auto its = static_cast<int>(found->across[i]);
        CHECK(std::ranges::count(groups[i], its) == 1);
        CHECK((!own || its == self));
      }
    }
  }
}

TEST_CASE("processes in groups get the serial result, and the same bits", "[node]") {
  std::mutex guard;
  std::vector<std::vector<float>> sums;  // by the ranks of a group, no power of two, as kernels add; 0: in none
  for (const int each : {0, 3, 5}) {
    job what = small_job(13);
    what.settings.group_ranks = each;
    std::vector<std::vector<float>> found;
    run_ranks(what, [&](weft::communicator& world) {
      call_anything(world, thorough() ? 200 : slowed ? 40 : 80, seed_of_this_run());
      auto some = world.split(world.rank() % 2, world.rank()).value();
      call_anything(some, 40, seed_of_this_run());
      std::mt19937_64 random(seed_of_this_run() + static_cast<std::uint64_t>(world.rank()));
      std::uniform_real_distribution<float> any(-1, 1);
      std::vector<float> in(5000), out(in.size());
      for (float& x : in) x = any(random);
      world.allreduce(std::span(in).first(10), std::span(out).first(10), weft::sum);
      world.allreduce(std::span(in).subspan(10), std::span(out).subspan(10), weft::sum);
      const std::lock_guard lock(guard);
      found.push_back(out);
    });
    for (const auto& one : found) CHECK(one == found.front());
    sums.push_back(found.front());
  }
  for (std::size_t i = 1; i < sums.size(); ++i) {
    CAPTURE(i);
    CHECK((sums[i] != sums[0]));  // added in another order
  }
}
