// SPDX-License-Identifier: Apache-2.0
// Blocks whose counts the root alone knows, blocks that lie anywhere in a buffer, and results at a buffer's front.
#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <numeric>
#include <ranges>
#include <span>
#include <vector>

#include "block_layouts.hpp"

using namespace weft_test;

namespace block_layouts {
namespace {

/// Of the last rank first, with gaps.
std::vector<std::size_t> places_of(const std::vector<std::size_t>& counts) {
  std::vector<std::size_t> all(counts.size());
  std::size_t at = 2;
  for (std::size_t r = counts.size(); r-- > 0;) {
    all[r] = at;
    at += counts[r] + r % 2;
  }
  return all;
}
constexpr std::size_t gap = 2;

std::size_t room_for(const std::vector<std::size_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), counts.size() + 2 * gap);
}

void check_at_root(weft::communicator& world, form as, std::size_t scale, int root, bool displaced) {
  const int me = world.rank();
  const bool mine = me == root;
  const auto counts = counts_of(world.size(), scale);
  const auto places = displaced ? places_of(counts) : one_after_another(counts);
  const std::size_t own = counts[static_cast<std::size_t>(me)];
  const std::size_t room = displaced ? room_for(counts) : places.back() + counts.back();
  const auto layout = !mine       ? weft::counts_at_root()
                      : displaced ? weft::counts_at_root({counts, places})
                                  : weft::counts_at_root(counts);
  const auto from_all = laid_out(counts, places, room, [&](int r, std::size_t n) { return block(r, root, n); });
  const auto to_all = laid_out(counts, places, room, [&](int r, std::size_t n) { return block(root, r, n); });
  const std::vector<int> in = block(me, root, own);
  std::vector<int> all(mine ? room : 0, -1);
  call_as(
      as, [&] { world.gather(in, all, layout, root); }, [&] { return world.igather(in, all, layout, root); },
      [&] { return world.plan_gather(in, all, layout, root); },
      [&] {
        expect(!mine || all == from_all, "what the root gathers");
        std::ranges::fill(all, -1);
      });
  const std::vector<int> given = mine ? to_all : std::vector<int>();
  std::vector<int> out(own, -1);
  call_as(
      as, [&] { world.scatter(given, out, layout, root); }, [&] { return world.iscatter(given, out, layout, root); },
      [&] { return world.plan_scatter(given, out, layout, root); },
      [&] {
        expect(out == block(root, me, own), "what a rank gets of the root");
        std::ranges::fill(out, -1);
      });
  if (!mine || as != form::blocking) {
    if (as == form::blocking) world.gather(in, all, layout, root);
    return;
  }
  const std::span<int> in_place = std::span(all).subspan(places[static_cast<std::size_t>(me)], own);
  std::copy(in.begin(), in.end(), in_place.begin());
  world.gather(in_place, all, layout, root);
  expect(all == from_all, "what the root gathers in place");
}

void check_displaced(weft::communicator& world, form as, std::size_t scale) {
  const int me = world.rank(), n = world.size(), root = n - 1;
  const auto counts = counts_of(n, scale);
  const auto places = places_of(counts);
  const std::size_t own = counts[static_cast<std::size_t>(me)], room = room_for(counts);
  const std::vector<int> in = block(me, 0, own);
  const auto gathered = laid_out(counts, places, room, [&](int r, std::size_t c) { return block(r, 0, c); });
  std::vector<int> all(room, -1);
  const auto check = [&](const char* what, bool here) {
    return [&all, &gathered, what, here] {
      expect(!here || all == gathered, what);
      std::ranges::fill(all, -1);
    };
  };
  call_as(
      as,
      [&] {
        world.allgather(in, all, {counts, places});
      },
      [&] {
        return world.iallgather(in, all, {counts, places});
      },
      [&] {
        return world.plan_allgather(in, all, {counts, places});
      },
      check("what all gather", true));
  call_as(
      as,
      [&] {
        world.gather(in, all, {counts, places}, root);
      },
      [&] {
        return world.igather(in, all, {counts, places}, root);
      },
      [&] {
        return world.plan_gather(in, all, {counts, places}, root);
      },
      check("what the root gathers", me == root));
  std::vector<int> out(own, -1);
  call_as(
      as,
      [&] {
        world.scatter(gathered, out, {counts, places}, root);
      },
      [&] {
        return world.iscatter(gathered, out, {counts, places}, root);
      },
      [&] {
        return world.plan_scatter(gathered, out, {counts, places}, root);
      },
      [&] {
        expect(out == in, "a block of the root's");
        std::ranges::fill(out, -1);
      });
  if (as == form::blocking) {
    const std::span<int> mine = std::span(all).subspan(places[static_cast<std::size_t>(me)], own);
    std::copy(in.begin(), in.end(), mine.begin());
    world.allgather(mine, all, {counts, places});
    expect(all == gathered, "what all gather in place");
  }
}

void check_alltoall(weft::communicator& world, form as, std::size_t scale, bool send_displaced) {
  const int me = world.rank(), n = world.size();
  std::vector<std::size_t> sent, received;
  for (int r = 0; r < n; ++r) {
    sent.push_back(counts_of(n, scale)[static_cast<std::size_t>((me + r) % n)]);
    received.push_back(counts_of(n, scale)[static_cast<std::size_t>((r + me) % n)]);
  }
  const auto from = send_displaced ? places_of(sent) : one_after_another(sent);
  const auto to = places_of(received);
  const std::size_t given = send_displaced ? room_for(sent) : from.back() + sent.back();
  const auto in = laid_out(sent, from, given, [&](int r, std::size_t c) { return block(me, r, c); });
  const auto right = laid_out(received, to, room_for(received), [&](int r, std::size_t c) { return block(r, me, c); });
  std::vector<int> out(right.size(), -1);
  const weft::block_layout sending =
      send_displaced ? weft::block_layout(sent, from) : weft::block_layout(std::span<const std::size_t>(sent));
  call_as(
      as,
      [&] {
        world.alltoall(in, out, sending, {received, to});
      },
      [&] {
        return world.ialltoall(in, out, sending, {received, to});
      },
      [&] {
        return world.plan_alltoall(in, out, sending, {received, to});
      },
      [&] {
        expect(out == right, "what all exchange");
        std::ranges::fill(out, -1);
      });
  if (as != form::blocking || !send_displaced || in.size() != out.size()) return;
  std::vector<int> both = in;
  world.alltoall(both, both, sending, {received, to});
  for (int r = 0; r < n; ++r) {
    const auto at = static_cast<std::size_t>(r);
    expect(std::equal(both.begin() + static_cast<std::ptrdiff_t>(to[at]),
                      both.begin() + static_cast<std::ptrdiff_t>(to[at] + received[at]),
                      right.begin() + static_cast<std::ptrdiff_t>(to[at])),
           "a block exchanged in place");
  }
}

template <class Operator>
void check_front(weft::communicator& world, form as, std::size_t scale, bool uneven, const Operator& op) {
  const int n = world.size();
  const auto me = static_cast<std::size_t>(world.rank());
  std::vector<std::size_t> counts(static_cast<std::size_t>(n), scale + 3);
  if (uneven) counts = counts_of(n, scale);
  const auto places = one_after_another(counts);
  std::vector<double> data(places.back() + counts.back());
  const auto fill = [&] {
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = world.rank() + static_cast<double>(i % 1000);
  };
  fill();
  const std::span<double> front = std::span(data).first(counts[me]);
  const auto check = [&] {
    for (std::size_t i = 0; i < front.size(); ++i)
      expect(front[i] == n * (n - 1) / 2.0 + n * static_cast<double>((places[me] + i) % 1000), "element ", i,
             " of the block at the front");
    fill();
  };
  if (uneven)
    call_as(
        as, [&] { world.reduce_scatter(data, front, op, counts); },
        [&] { return world.ireduce_scatter(data, front, op, counts); },
        [&] { return world.plan_reduce_scatter(data, front, op, counts); }, check);
  else
    call_as(
        as, [&] { world.reduce_scatter(data, front, op); }, [&] { return world.ireduce_scatter(data, front, op); },
        [&] { return world.plan_reduce_scatter(data, front, op); }, check);
}

}  // namespace

TEST_CASE("the root alone knows the counts of a gather or scatter", "[layouts]") {
  job what = some_ranks();
  what.settings.check = GENERATE(false, true);
  if (GENERATE(false, true)) what.settings.gather = what.settings.scatter = "binomial";  // cannot: is passed over
  run_ranks(what, [](weft::communicator& world) {
    for (const form as : all_forms)
      for (const std::size_t scale : {1, 40, 3000})
        for (const int root : {0, world.size() - 1})
          for (const bool displaced : {false, true}) check_at_root(world, as, scale, root, displaced);
  });
}

TEST_CASE("blocks lie at displacements, in any order", "[layouts]") {
  job what = some_ranks();
  what.settings.check = GENERATE(false, true);
  run_ranks(what, [](weft::communicator& world) {
    for (const form as : all_forms)
      for (const std::size_t scale : {1, 40, 3000}) {
        check_displaced(world, as, scale);
        check_alltoall(world, as, scale, true);
        check_alltoall(world, as, scale, false);
      }
  });
}

TEST_CASE("a reduce-scatter in place leaves its block at the front", "[layouts]") {
  job what = some_ranks();
  what.settings.check = GENERATE(false, true);
  const auto summed = [](const double* from, double* into, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) into[i] += from[i];
  };
  run_ranks(what, [&](weft::communicator& world) {
    for (const form as : all_forms)
      for (const std::size_t scale : {0, 1, 40, 3000})
        for (const bool uneven : {false, true}) {
          check_front(world, as, scale, uneven, weft::sum);
          check_front(world, as, scale, uneven, weft::reproducible_sum);
          check_front(world, as, scale, uneven, weft::make_operator<double>(summed, weft::commutes));
        }
  });
}

TEST_CASE("pointers and numbers are counts as ever", "[layouts]") {
  run_ranks(small_job(2), [](weft::communicator& world) {
    const std::size_t list[] = {1, 2};
    const std::vector<std::size_t> counts(list, list + 2);
    std::vector<int> mine(counts[static_cast<std::size_t>(world.rank())], world.rank()), all(3);
    const auto right = [&] { return all == std::vector<int>{0, 1, 1}; };
    world.allgather(mine, all, {list, 2});
    expect(right(), "a pointer and a number");
    all.assign(3, 0), world.allgather(mine, all, {list, list + 2});
    expect(right(), "two pointers");
    all.assign(3, 0), world.allgather(mine, all, {counts});
    expect(right(), "a list of a vector");
    all.assign(3, 0), world.allgather(mine, all, {counts.begin(), counts.end()});
    expect(right(), "iterators");
    all.assign(3, 0), world.gather(mine, all, {list, 2}, 0);
    expect(world.rank() != 0 || right(), "a pointer and a number of a gather");
    all.assign(3, 0), world.gather(mine, all, std::span(counts), 0);
    expect(world.rank() != 0 || right(), "a span of a gather");
    all.assign(3, 0), world.gather(mine, all, list, 0);
    expect(world.rank() != 0 || right(), "an array of a gather");
  });
}

TEST_CASE("counts and displacements are of any integral type, in any range of known size", "[layouts]") {
  const int kind = GENERATE(0, 1, 2);
  run_ranks(kind == 0   ? small_job(2)
            : kind == 1 ? small_job(1, 2)
                        : small_job(2),
            [](weft::communicator& world) {
              const int me = world.rank();
              const std::vector<int> mine(me == 0 ? 3 : 1, me + 7), packed{7, 7, 7, 8}, apart{8, -1, 7, 7, 7};
              std::vector<int> all;
              const auto right = [&](const std::vector<int>& expected, const char* as) {
                expect(all == expected, as);
                all.assign(expected.size(), -1);
              };
              all.assign(4, -1);
              const auto of = [&](const auto& counts, const char* as) {
                world.allgather(mine, all, counts);
                right(packed, as);
                world.iallgather(mine, all, counts).wait();
                right(packed, as);
                if (me == 0)
                  world.gather(mine, all, counts, 0), right(packed, as);
                else
                  world.gather(mine, std::span<int>(), counts, 0);
                const std::vector<int> both = packed;
                std::vector<int> sum(mine.size());
                world.reduce_scatter(both, sum, weft::sum, counts);
                expect(sum == std::vector<int>(mine.size(), 2 * (me + 7)), as);
              };
              of(std::vector<int>{3, 1}, "a vector of int");
              of(std::array<std::int64_t, 2>{3, 1}, "an array of std::int64_t");
              of(std::vector<unsigned char>{3, 1}, "a vector of bytes");
              const short few[] = {3, 1};
              of(few, "an array of short");
              of(std::span(few), "a span of short");
              of(std::deque<int>{3, 1}, "a deque");
              of(std::views::iota(0, 2) | std::views::transform([](int r) { return 3 - 2 * r; }), "a view");
              world.allgather(mine, all, {3, 1});
              right(packed, "a list of numbers");
              world.reduce_scatter(packed, std::vector<int>(mine.size()), weft::sum, {3, 1});
              all.assign(5, -1);
              world.allgather(mine, all, {{3, 1}, {2, 0}});
              right(apart, "two lists");
              world.allgather(mine, all, {std::vector{3, 1}, std::array<std::size_t, 2>{2, 0}});
              right(apart, "a vector of int, and what is none");
              weft::plan made = world.plan_allgather(mine, all, {std::vector{3L, 1L}, std::vector<short>{2, 0}});
              made.start();
              made.wait();
              right(apart, "a plan, behind which they have gone");
              weft::block_layout lies({3, 1}, {2, 0});
              lies = weft::block_layout(weft::block_layout(lies));
              world.allgather(mine, all, lies);
              right(apart, "a layout that is kept");
            });
}

TEST_CASE("a negative count or displacement is refused, and which it is", "[layouts][arguments]") {
  job what = GENERATE(0, 1) == 0 ? small_job(3) : small_job(1, 3);
  what.settings.check = GENERATE(false, true);
  run_ranks(what, [](weft::communicator& world) {
    std::vector<char> all(6), mine(2);
    const auto refused = [&](const char* text, auto&& call) {
      expect_text(expect_error(weft::errc::invalid_count, call), text);
      world.barrier();
    };
    refused("allgather on rank", [&] { world.allgather(mine, all, {2, -3, 2}); });
    refused("the count of rank 1 is -3: it must be 0 or more", [&] { world.allgather(mine, all, {2, -3, 2}); });
    refused("the count of rank 2 is -9000000000", [&] {
      (void)world.iallgather(mine, all, std::vector<std::int64_t>{2, 2, -9'000'000'000});
    });
    refused("the count of rank 0 is -1", [&] { (void)world.plan_allgather(mine, all, std::vector<short>{-1, 2, 2}); });
    refused("the displacement of rank 1 is -2", [&] { world.allgather(mine, all, {{2, 2, 2}, {0, -2, 4}}); });
    refused("the count of rank 2 is -2", [&] { world.alltoall(all, all, {2, 2, 2}, {2, 2, -2}); });
    refused("more than memory can hold", [&] { world.allgather(mine, all, {1l << 62, 1l << 62, 2l}); });
  });
}

TEST_CASE("blocks that overlap, or lie outside of their buffer, are refused", "[layouts][arguments]") {
  run_ranks(GENERATE(0, 1) == 0 ? small_job(3) : small_job(1, 3), [](weft::communicator& world) {
    using list = std::vector<std::size_t>;
    const list counts{2, 3, 0};
    std::vector<int> all(6), mine(counts[static_cast<std::size_t>(world.rank())]);
    const auto refused = [&](const char* text, auto&& call) {
      expect_text(expect_error(weft::errc::invalid_count, call), text);
    };
    refused("the blocks of ranks 0 and 1 overlap", [&] { world.allgather(mine, all, {counts, list{0, 1, 0}}); });
    refused("the blocks of ranks 0 and 1 overlap", [&] { world.allgather(mine, all, {counts, list{2, 0, 0}}); });
    refused("the block of rank 1 has 3 elements from number 4 on, but the output has 6", [&] {
      world.allgather(mine, all, {counts, list{0, 4, 0}});
    });
    refused("the displacement of rank 0 is -1: it must be 0 or more", [&] {
      world.allgather(mine, all, {counts, list{~std::size_t{0}, 0, 0}});
    });
    refused("there are 2 displacements", [&] { static_cast<void>(world.iallgather(mine, all, {counts, list{0, 2}})); });
    refused("there are 0 displacements", [&] { world.allgather(mine, all, {counts, list{}}); });
    refused("the blocks of ranks 0 and 1 overlap", [&] {
      world.alltoall(all, all, list{2, 2, 2}, {list{2, 2, 2}, list{0, 1, 4}});
    });
    if (world.rank() == 0) {
      refused("the blocks of ranks 0 and 1 overlap", [&] {
        world.gather(mine, all, weft::counts_at_root({counts, list{0, 1, 0}}), 0);
      });
      refused("the counts of its blocks add up to 5",
              [&] { world.gather(mine, all, weft::counts_at_root(counts), 0); });
      refused("there are 0 counts", [&] { world.gather(mine, all, weft::counts_at_root(), 0); });
      refused("block is 2", [&] { world.gather(all, all, weft::counts_at_root({counts, list{0, 2, 0}}), 0); });
    }
    // An empty block lies anywhere, and blocks that are sent may overlap.
    std::vector<int> out(counts[static_cast<std::size_t>(world.rank())], -1);
    std::iota(all.begin(), all.end(), 0);
    world.scatter(all, out, {counts, list{1, 2, 6}}, 0);
    for (std::size_t i = 0; i < out.size(); ++i)
      expect(out[i] == static_cast<int>(i) + world.rank() + 1, "a block of those that overlap");
  });
}

TEST_CASE("a rank that has another count than the root says is told, and the root, too", "[layouts][mismatches]") {
  job what = GENERATE(0, 1, 2) == 0 ? small_job(1, 3) : small_job(3);
  if (GENERATE(false, true) && what.processes == 3) what.nodes = {"a", "b", "c"};
  what.settings.check = GENERATE(false, true);
  const bool scatters = GENERATE(false, true);
  const auto [said, has] =
      GENERATE(std::pair<std::size_t, std::size_t>(10, 11), std::pair<std::size_t, std::size_t>(10, 900),
               std::pair<std::size_t, std::size_t>(900, 10), std::pair<std::size_t, std::size_t>(0, 900));
  CAPTURE(said, has, scatters);
  const auto outcomes = outcomes_of(what, [&, said = said, has = has](weft::communicator& world) {
    const std::vector<std::size_t> counts{4, said, 4};
    std::vector<int> mine(world.rank() == 1 ? has : 4), all(8 + said);
    if (scatters)
      world.scatter(all, mine, weft::counts_at_root(counts), 0);
    else
      world.gather(mine, all, weft::counts_at_root(counts), 0);
    world.barrier();
    world.barrier();
  });
  for (const auto& outcome : outcomes) {
    REQUIRE(outcome != nullptr);
    if (what.settings.check)
      CHECK_THAT(text_of(outcome), ContainsSubstring("another number of bytes than that expects of it"));
    else
      CHECK_THAT(text_of(outcome), ContainsSubstring("with other counts") || ContainsSubstring("bytes, the buffer"));
  }
}

}  // namespace block_layouts
