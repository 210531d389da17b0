// SPDX-License-Identifier: Apache-2.0
// Blocks that are not in one piece.
#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "block_layouts.hpp"

namespace block_layouts {
namespace {

using list = std::vector<std::size_t>;

/// Where element `i` of a block lies.
std::size_t place_in(const weft::strided& lies, std::size_t i) {
  const std::size_t item = lies.runs == 0 ? 0 : i / (lies.runs * lies.length);
  if (lies.runs != 0) i %= lies.runs * lies.length;
  return item * lies.next + i / lies.length * lies.stride + i % lies.length;
}

/// Of rank `sender` to rank `receiver` at element `i`.
int element(int sender, int receiver, std::size_t i) { return block(sender, receiver, i + 1).back(); }

/// A buffer whose blocks lie so.
template <class Element>
std::vector<int> strided_out(const list& counts, const list& places, const weft::strided& lies, std::size_t room,
                             Element element_of) {
  std::vector<int> all(room, -1);
  for (std::size_t r = 0; r < counts.size(); ++r)
    for (std::size_t i = 0; i < counts[r]; ++i) all[places[r] + place_in(lies, i)] = element_of(static_cast<int>(r), i);
  return all;
}

/// A matrix that is kept by rows, of which each rank has some: every rank gets rows of its transpose.
void check_transpose(weft::communicator& world, form as, std::size_t scale) {
  const auto n = static_cast<std::size_t>(world.size()), me = static_cast<std::size_t>(world.rank());
  list rows, columns;  // each rank's, of the matrix and of its transpose
  for (std::size_t r = 0; r < n; ++r) rows.push_back(scale + r), columns.push_back(r == 1 ? 0 : 2 * scale + 3 * r);
  const list row_of = one_after_another(rows), column_of = one_after_another(columns);
  const std::size_t all_rows = row_of.back() + rows.back(), all_columns = column_of.back() + columns.back();
  const auto value = [&](std::size_t row, std::size_t column) { return static_cast<double>(row * 10'000 + column); };
  std::vector<double> given(rows[me] * all_columns), right(columns[me] * all_rows), got(right.size(), -1);
  for (std::size_t i = 0; i < rows[me]; ++i)
    for (std::size_t j = 0; j < all_columns; ++j) given[i * all_columns + j] = value(row_of[me] + i, j);
  for (std::size_t j = 0; j < columns[me]; ++j)
    for (std::size_t i = 0; i < all_rows; ++i) right[j * all_rows + i] = value(i, column_of[me] + j);
  list sent, received;
  std::vector<weft::strided> by_rows;
  for (std::size_t r = 0; r < n; ++r) {
    sent.push_back(rows[me] * columns[r]);
    received.push_back(rows[r] * columns[me]);
    by_rows.push_back({columns[r], all_columns});
  }
  const weft::block_layout from(sent, column_of, by_rows);
  const weft::block_layout to(received, row_of, weft::strided{1, all_rows, columns[me], 1});
  call_as(
      as, [&] { world.alltoall(given, got, from, to); }, [&] { return world.ialltoall(given, got, from, to); },
      [&] { return world.plan_alltoall(given, got, from, to); },
      [&] {
        expect(got == right, "the transpose");
        std::ranges::fill(got, -1);
      });
}

void check_strided(weft::communicator& world, form as, std::size_t scale, const weft::strided& lies, bool at_root) {
  const int me = world.rank(), n = world.size(), root = n - 1;
  const auto counts = counts_of(n, scale);
  list places(counts.size());
  std::size_t room = 1;
  for (std::size_t r = counts.size(); r-- > 0;) {
    places[r] = room;
    for (std::size_t i = 0; i < counts[r]; ++i) room = std::max(room, places[r] + place_in(lies, i) + 1);
    room += 2;
  }
  const std::size_t own = counts[static_cast<std::size_t>(me)];
  const weft::block_layout layout(counts, places, lies);
  const weft::rooted_layout rooted = at_root ? weft::counts_at_root(layout) : weft::rooted_layout(layout);
  const auto gathered = strided_out(counts, places, lies, room, [](int r, std::size_t i) { return element(r, 0, i); });
  const std::vector<int> in = block(me, 0, own);
  std::vector<int> all(room, -1), out(own, -1);
  const auto checked = [&](const char* what, bool here) {
    return [&all, &gathered, what, here] {
      expect(!here || all == gathered, what);
      std::ranges::fill(all, -1);
    };
  };
  call_as(
      as, [&] { world.gather(in, all, rooted, root); }, [&] { return world.igather(in, all, rooted, root); },
      [&] { return world.plan_gather(in, all, rooted, root); }, checked("what the root gathers", me == root));
  call_as(
      as, [&] { world.scatter(gathered, out, rooted, root); },
      [&] { return world.iscatter(gathered, out, rooted, root); },
      [&] { return world.plan_scatter(gathered, out, rooted, root); },
      [&] {
        expect(out == in, "a block of the root's");
        std::ranges::fill(out, -1);
      });
  // Rank 0 has them in one piece each.
  const list packed = one_after_another(counts);
  const auto plain =
      laid_out(counts, packed, packed.back() + counts.back(), [](int r, std::size_t c) { return block(r, 0, c); });
  std::vector<int> flat(plain.size());
  const weft::block_layout its = me == 0 ? weft::block_layout(counts, packed) : layout;
  std::vector<int>& into = me == 0 ? flat : all;
  call_as(
      as, [&] { world.allgather(in, into, its); }, [&] { return world.iallgather(in, into, its); },
      [&] { return world.plan_allgather(in, into, its); },
      [&] {
        expect(into == (me == 0 ? plain : gathered), "what all gather");
        std::ranges::fill(into, -1);
      });
}

}  // namespace

TEST_CASE("an all-to-all of strided blocks transposes a matrix", "[layouts]") {
  job what = some_ranks();
  what.settings.check = GENERATE(false, true);
  run_ranks(what, [](weft::communicator& world) {
    for (const form as : all_forms)
      for (const std::size_t scale : {0, 1, 7, 40}) check_transpose(world, as, scale);
  });
}

TEST_CASE("blocks are strided", "[layouts]") {
  run_ranks(some_ranks(), [](weft::communicator& world) {
    for (const form as : all_forms)
      for (const std::size_t scale : {1, 150})
        for (const bool at_root : {false, true})
          for (const weft::strided& lies :
               {weft::strided{1, 3}, weft::strided{4, 4}, weft::strided{3, 5}, weft::strided{2, 1000, 3, 3},
                weft::strided{1, 700, 2, 1}, weft::strided{5, 7, 1, 9}})
            check_strided(world, as, scale, lies, at_root);
  });
}

TEST_CASE("strided blocks are exchanged in place as well", "[layouts]") {
  run_ranks(some_ranks(), [](weft::communicator& world) {
    const auto n = static_cast<std::size_t>(world.size()), me = static_cast<std::size_t>(world.rank());
    std::vector<int> square(n * n);  // of the matrix rank `me` has row `me` as column 0, among other things
    const list ones(n, n), columns = one_after_another(list(n, 1)), rows = one_after_another(ones);
    for (std::size_t i = 0; i < n * n; ++i) square[i] = static_cast<int>(100 * me + i);
    const auto before = square;
    world.alltoall(square, square, {ones, columns, weft::strided{1, n}}, {ones, rows});
    for (std::size_t r = 0; r < n; ++r)
      for (std::size_t i = 0; i < n; ++i)
        expect(square[r * n + i] == static_cast<int>(100 * r + i * n + me), "column ", me, " of rank ", r);
  });
}

TEST_CASE("strided blocks that overlap, or lie outside of their buffer, are refused", "[layouts][arguments]") {
  job what = GENERATE(0, 1) == 0 ? small_job(3) : small_job(1, 3);
  what.settings.check = GENERATE(false, true);
  run_ranks(what, [](weft::communicator& world) {
    const list counts{2, 3, 0};
    std::vector<int> all(8), mine(counts[static_cast<std::size_t>(world.rank())]);
    const auto refused = [&](const char* text, const list& places, const weft::strided& lies) {
      expect_text(expect_error(weft::errc::invalid_count,
                               [&] {
                                 world.allgather(mine, all, {counts, places, lies});
                               }),
                  text);
      world.barrier();
    };
    refused("the block of rank 1 overlaps", {0, 2, 0}, {1, 2});
    refused("the block of rank 0 overlaps itself", {0, 4, 0}, {1, 0});
    refused("the block of rank 1 reaches over 5 elements from number 4 on, but the output has 8", {0, 4, 0}, {1, 2});
    refused("reaches over 18446744073709551615", {0, 1, 0}, {1, ~std::size_t{0}});
    refused("the displacement of rank 0 is -1", {~std::size_t{0}, 1, 0}, {1, 2});
    refused("in runs of no elements", {0, 1, 0}, {0, 1});
    refused("there are 2 displacements", {0, 1}, {1, 2});
    const std::vector<weft::strided> two{{1, 2}, {1, 2}};
    const auto text = expect_error(weft::errc::invalid_count, [&] {
      static_cast<void>(world.iallgather(mine, all, weft::block_layout(counts, list{0, 1, 0}, two)));
    });
    expect_text(text, "there are 2 strides for the blocks of 3 ranks");
    world.barrier();
    std::vector<int> nine(9), into(9);
    const list threes(3, 3), apart{0, 3, 6};
    const weft::block_layout lost(threes, list(), weft::strided{1, 1}), whole(threes, apart);
    for (const auto& [from, to] : {std::pair(lost, whole), std::pair(whole, lost)})
      expect_text(expect_error(weft::errc::invalid_count, [&] { world.alltoall(nine, into, from, to); }),
                  "there are 0 displacements for the blocks of 3 ranks");
    world.barrier();
    world.allgather(mine, all, {counts, list{0, 1, 8}, weft::strided{1, 2}});
    // Blocks that are sent may overlap.
    std::iota(all.begin(), all.end(), 0);
    world.scatter(all, mine, {counts, list{1, 1, 0}, weft::strided{1, 3}}, 0);
    for (std::size_t i = 0; i < mine.size(); ++i) expect(mine[i] == static_cast<int>(1 + 3 * i), "every third element");
  });
}

}  // namespace block_layouts
