// SPDX-License-Identifier: Apache-2.0
// Sets of ranks, and the communicators of them.
#include <algorithm>
#include <iterator>
#include <numeric>
#include <random>
#include <set>
#include <vector>
#include <weft/group.hpp>

#include "run_ranks.hpp"

using namespace weft_test;

namespace {

std::vector<int> ranks_of(const weft::group& of) { return {of.members().begin(), of.members().end()}; }

weft::group group_of(std::vector<int> ranks) { return weft::group(ranks); }

template <class Call>
std::string refusal_of(Call call) {
  try {
    call();
  } catch (const weft::error& e) {
    CHECK(e.code() == weft::errc::invalid_rank);
    return e.what();
  }
  return "nothing was thrown";
}

}  // namespace

TEST_CASE("groups combine as sets do, in the order of the first", "[groups]") {
  const weft::group first = group_of({5, 1, 9, 3}), second = group_of({3, 7, 5});
  CHECK(ranks_of(unite(first, second)) == std::vector<int>{5, 1, 9, 3, 7});
  CHECK(ranks_of(unite(second, first)) == std::vector<int>{3, 7, 5, 1, 9});
  CHECK(ranks_of(intersection(first, second)) == std::vector<int>{5, 3});
  CHECK(ranks_of(intersection(second, first)) == std::vector<int>{3, 5});
  CHECK(ranks_of(difference(first, second)) == std::vector<int>{1, 9});
  CHECK(difference(first, first) == weft::group());
  CHECK(unite(weft::group(), first) == first);
  CHECK_FALSE(group_of({1, 2}) == group_of({2, 1}));
  CHECK(first.size() == 4);
  CHECK(first.rank_of(9) == 2);
  CHECK_FALSE(first.rank_of(7).has_value());
  CHECK(first.ranks_in(second) == std::vector<int>{2, -1, -1, 0});
  CHECK(first.translate(std::vector<int>{3, 0, 1}, second) == std::vector<int>{0, 2, -1});
}

TEST_CASE("groups of random ranks agree with the standard library's sets", "[groups]") {
  const std::uint64_t seed = seed_of_this_run();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 200; ++round) {
    const auto draw = [&] {
      std::vector<int> ranks(40);
      std::iota(ranks.begin(), ranks.end(), 0);
      std::shuffle(ranks.begin(), ranks.end(), random);
      ranks.resize(random() % 40);
      return ranks;
    };
    const std::vector<int> a = draw(), b = draw();
    const std::set<int> of_a(a.begin(), a.end()), of_b(b.begin(), b.end());
    const auto sorted = [](const weft::group& of) {
      std::vector<int> all = ranks_of(of);
      std::ranges::sort(all);
      return all;
    };
    std::vector<int> all, both, rest;
    std::ranges::set_union(of_a, of_b, std::back_inserter(all));
    std::ranges::set_intersection(of_a, of_b, std::back_inserter(both));
    std::ranges::set_difference(of_a, of_b, std::back_inserter(rest));
    const weft::group first(a), second(b);
    REQUIRE(sorted(unite(first, second)) == all);
    REQUIRE(sorted(intersection(first, second)) == both);
    REQUIRE(sorted(difference(first, second)) == rest);
    for (std::size_t r = 0; r < a.size(); ++r) REQUIRE(first.rank_of(a[r]) == static_cast<int>(r));
  }
}

TEST_CASE("a group without sense is refused", "[groups][arguments]") {
  CHECK_THAT(refusal_of([] { group_of({1, 2, 1}); }), ContainsSubstring("rank 1 is listed more than once"));
  CHECK_THAT(refusal_of([] { group_of({0, -2}); }), ContainsSubstring("rank -2 is none of a job"));
  CHECK_THAT(refusal_of([] {
               static_cast<void>(group_of({4, 5}).translate(std::vector<int>{2}, group_of({4})));
             }),
             ContainsSubstring("nobody has rank 2 of a group of 2"));
}

TEST_CASE("a communicator of a group is made by its members", "[groups][communicators]") {
  run_ranks(GENERATE(0, 1) == 0 ? small_job(4) : small_job(2, 2), [](weft::communicator& world) {
    const weft::group all(world.members());
    auto odd = world.split(world.rank() % 2, -world.rank());
    const weft::group others = difference(all, weft::group(odd->members()));
    expect(others.size() == 2 && !others.rank_of(world.rank()), "those of the other parity");
    const weft::group ends(std::vector<int>{3, 0});
    if (!ends.rank_of(world.rank())) return;
    auto made = world.create(ends.ranks_in(all));
    expect(weft::group(made.members()) == ends, "its members, in their order");
    expect(made.rank() == ends.rank_of(world.rank()), "the rank in it");
    made.barrier();
  });
}
