// SPDX-License-Identifier: Apache-2.0
// Ghost cells, by stencils that give the same as on one array.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>
#include <weft/deadline.hpp>
#include <weft/halo.hpp>

#include "roads.hpp"

using namespace weft_test;

namespace {

using index = std::vector<int>;

/// Calls `function(at)` for every index from `first` up to, but not with, `last`, the last dimension fastest.
void for_each_index(const index& first, const index& last, const std::function<void(const index&)>& function) {
  index at = first;
  for (std::size_t d = at.size(); d-- > 0;)
    if (first[d] >= last[d]) return;
  for (;;) {
    function(at);
    std::size_t d = at.size();
    while (d-- > 0 && ++at[d] == last[d]) at[d] = first[d];
    if (d == SIZE_MAX) return;
  }
}

/// An element that messages carry, of an odd length.
struct cell {
  std::uint32_t value = 0;
  unsigned char copy[3] = {};

  cell() = default;
  explicit cell(std::uint32_t of) : value(of) { std::fill(std::begin(copy), std::end(copy), of % 251); }
  bool is_whole() const {
    return std::all_of(std::begin(copy), std::end(copy), [&](unsigned char each) { return each == value % 251; });
  }
};

constexpr std::uint32_t outside = 77;  // what is beyond the ends

/// An array with ghosts, which holds what is at `begin` of all.
struct field {
  field(index from, index inside, int width)
      : begin(std::move(from)), extents(std::move(inside)), ghosts(width), cells(size(), cell(outside)) {}
  std::size_t size() const {
    std::size_t all = 1;
    for (const int each : extents) all *= static_cast<std::size_t>(each + 2 * ghosts);
    return all;
  }
  /// By the index in the interior, negative in ghosts.
  std::size_t place(const index& at) const {
    std::size_t offset = 0;
    for (std::size_t d = 0; d < at.size(); ++d)
      offset = offset * static_cast<std::size_t>(extents[d] + 2 * ghosts) + static_cast<std::size_t>(at[d] + ghosts);
    return offset;
  }
  cell& operator[](const index& at) { return cells[place(at)]; }

  index begin, extents;
  int ghosts;
  std::vector<cell> cells;
};

std::uint32_t beginning(const index& at) {
  return std::accumulate(at.begin(), at.end(), 1u,
                         [](std::uint32_t sum, int each) { return sum * 31 + static_cast<std::uint32_t>(each); });
}

/// Everything within `reach` of a cell: in the directions of the dimensions alone, or corners, too.
std::vector<index> offsets_of(std::size_t dimensions, int reach, bool corners) {
  std::vector<index> all;
  for_each_index(index(dimensions, -reach), index(dimensions, reach + 1), [&](const index& at) {
    if (corners || dimensions - static_cast<std::size_t>(std::ranges::count(at, 0)) <= 1) all.push_back(at);
  });
  return all;
}

/// A step on an array whose ghosts are right.
void step(field& of, const std::vector<index>& offsets) {
  field next = of;
  for_each_index(index(of.extents.size(), 0), of.extents, [&](const index& at) {
    std::uint32_t sum = 0;
    for (const index& offset : offsets) {
      index from = at;
      for (std::size_t d = 0; d < from.size(); ++d) from[d] += offset[d];
      expect(of[from].is_whole(), "all bytes of a cell");
      sum = sum * 7 + of[from].value;
    }
    next[at] = cell(sum);
  });
  of.cells = std::move(next.cells);
}

/// The ghosts of an array that is all there is.
void wrap(field& all, const std::vector<bool>& periodic) {
  index first(all.extents.size(), -all.ghosts), last = all.extents;
  for (int& each : last) each += all.ghosts;
  for_each_index(first, last, [&](const index& at) {
    index from = at;
    for (std::size_t d = 0; d < at.size(); ++d)
      if (periodic[d]) from[d] = (at[d] + all.extents[d]) % all.extents[d];
    if (from != at) all[at] = all[from];
  });
}

void fill(field& of) {
  for_each_index(index(of.extents.size(), 0), of.extents, [&](const index& at) {
    index global = at;
    for (std::size_t d = 0; d < at.size(); ++d) global[d] += of.begin[d];
    of[at] = cell(beginning(global));
  });
}

std::vector<bool> periodicity(std::size_t dimensions, int kind) {
  std::vector<bool> all;
  for (std::size_t d = 0; d < dimensions; ++d) all.push_back(kind == 1 || (kind == 2 && d % 2 == 1));
  return all;
}

void compare_with_serial(weft::communicator& world, std::size_t dimensions, int kind, int width, weft::corners with) {
  const std::vector<bool> periodic = periodicity(dimensions, kind);
  weft::grid cells(world, std::vector<int>(dimensions, 0), periodic);
  const index at = cells.coordinates();
  index all_extents, begin, extents;
  for (std::size_t d = 0; d < dimensions; ++d) {  // the last rank of a dimension has one more
    const int ranks = cells.shape().extents()[d], each = width + static_cast<int>(d % 2);
    all_extents.push_back(ranks * each + 1);
    begin.push_back(at[d] * each);
    extents.push_back(at[d] == ranks - 1 ? each + 1 : each);
  }
  field serial(index(dimensions, 0), all_extents, width), mine(begin, extents, width);
  fill(serial);
  fill(mine);
  weft::halo made(cells, mine.cells, extents, static_cast<std::size_t>(width), with);
  weft::halo ghosts = std::move(made);
  const auto offsets = offsets_of(dimensions, width, with != weft::corners::none);
  for (int steps = 0; steps < 3; ++steps) {
    if (steps == 1) {
      ghosts.start();
      while (!ghosts.test()) {
      }
    } else {
      ghosts.exchange();
    }
    wrap(serial, periodic);
    std::vector<cell>& memory = mine.cells;
    const cell* const before = memory.data();
    field stepped = mine;
    step(stepped, offsets);
    std::ranges::copy(stepped.cells, memory.begin());
    expect(memory.data() == before, "the array in place");
    step(serial, offsets);
    for_each_index(index(dimensions, 0), extents, [&](const index& here) {
      index global = here;
      for (std::size_t d = 0; d < here.size(); ++d) global[d] += begin[d];
      expect(mine[here].value == serial[global].value, "step ", steps, " in ", dimensions, " dimensions");
    });
  }
}

}  // namespace

TEST_CASE("stencils on arrays with ghosts give what one gives on one array", "[halos]") {
  const job what = GENERATE(true, false) ? jobs_of_eight() : jobs_of_all_roads();
  run_ranks(what, [](weft::communicator& world) {
    for (std::size_t dimensions = 1; dimensions <= 4; ++dimensions)
      for (const int kind : {0, 1, 2})
        for (const int width : {1, 2}) {
          if (dimensions == 4 && width == 2 && kind != 2) continue;  // 625 elements for each
          using enum weft::corners;
          for (const auto with : {none, by_dimension, directly})
            compare_with_serial(world, dimensions, kind, width, with);
        }
  });
}

TEST_CASE("a halo that is late can be waited for again, and two are apart whatever their order", "[halos]") {
  run_ranks(jobs_of_all_roads(), [](weft::communicator& world) {
    weft::grid ring(world, {0}, {true});
    const int before = *ring.neighbors()[0], next = *ring.neighbors()[1];
    std::vector<int> one(6, ring.rank()), two(1002, 100 + ring.rank());
    weft::halo first(ring, one, {2}, 2), second(ring, two, {1000});
    if (ring.rank() == 0) {
      if (ring.size() > 1) {
        first.start();
        try {
          const weft::deadline soon(std::chrono::milliseconds(10));
          first.wait();
          throw expectation_failed("a deadline");
        } catch (const weft::timed_out&) {
        }
        ring.send(1, next);
        second.start();
      } else {
        second.start();
        first.start();
      }
    } else {
      if (before == 0) (void)ring.recv_value<int>(0);
      second.start();
      first.start();
    }
    first.wait();
    second.wait();
    expect(one == std::vector<int>{before, before, ring.rank(), ring.rank(), next, next}, "the first");
    expect(two[0] == 100 + before && two[1] == 100 + ring.rank() && two[1001] == 100 + next, "the second");
    expect_error(weft::errc::invalid_argument, [&] { first.wait(); });
    first.start();
    expect_error(weft::errc::invalid_argument, [&] { first.start(); });
    first.wait();
  });
}

TEST_CASE("a halo that does not fit its array is refused", "[halos]") {
  run_ranks(small_job(1, 2), [](weft::communicator& world) {
    weft::grid cells(world, {2, 1});
    std::vector<double> array(5 * 6);
    const auto refused = [&](const char* text, const std::vector<int>& interior, std::size_t width) {
      expect_text(expect_error(weft::errc::invalid_count, [&] { weft::halo(cells, array, interior, width); }), text);
    };
    weft::halo(cells, array, {3, 4});
    refused("of 1 dimensions on a grid of 2", {28}, 1);
    refused("the array has 30 elements, but its interior and ghosts of width 1 have 25", {3, 3}, 1);
    refused("fewer than its interior", {30, 3}, 1);
    refused("an interior of -1 elements in dimension 1", {3, -1}, 1);
    refused("an interior of 1 elements in dimension 0, and ghosts of width 2", {1, 2}, 2);
    refused("ghosts of width 0", {5, 6}, 0);
    weft::grid five(world, {1, 1, 2, 1, 1});
    expect_text(expect_error(weft::errc::invalid_count,
                             [&] {
                               weft::halo(five, array, {1, 1, 1, 1, 1});
                             }),
                "at most 4");
  });
}
