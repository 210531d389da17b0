// SPDX-License-Identifier: Apache-2.0
// Grids of ranks, where they are placed, and collectives among neighbours.
#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <set>
#include <stdexcept>
#include <vector>
#include <weft/api/grid_places.hpp>
#include <weft/deadline.hpp>
#include <weft/grid.hpp>

#include "roads.hpp"
#include "thorough.hpp"

using namespace weft_test;
using namespace std::chrono_literals;

namespace {

/// The least sum that so many factors of a number have.
int least_sum(int number, int count) {
  if (count == 1) return number;
  int least = number + count - 1;
  for (int factor = 1; factor <= number; ++factor)
    if (number % factor == 0) least = std::min(least, factor + least_sum(number / factor, count - 1));
  return least;
}

weft::errc code_of(auto&& call) {
  try {
    call();
  } catch (const weft::error& e) {
    return static_cast<weft::errc>(e.code().value());
  }
  return {};
}

/// Node n has `each` ranks in turn, or they are dealt out one by one.
std::vector<int> nodes_of(int ranks, int each, bool dealt) {
  std::vector<int> nodes;
  for (int rank = 0; rank < ranks; ++rank) nodes.push_back(dealt ? rank % (ranks / each) : rank / each);
  return nodes;
}

std::vector<int> at_places(const std::vector<int>& nodes, const std::vector<int>& places) {
  std::vector<int> all(nodes.size());
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) all[static_cast<std::size_t>(places[rank])] = nodes[rank];
  return all;
}

/// What `from` sends in direction i: of that many elements.
std::vector<int> block_to(int from, std::size_t i, std::size_t count) {
  std::vector<int> block(count);
  std::iota(block.begin(), block.end(), 100'000 * from + 1000 * static_cast<int>(i));
  return block;
}

void append(std::vector<int>& to, const std::vector<int>& block) { to.insert(to.end(), block.begin(), block.end()); }

}  // namespace

TEST_CASE("extents that are chosen multiply to the ranks, descend, and have the least sum", "[grids]") {
  for (int ranks = 1; ranks <= 200; ++ranks)
    for (std::size_t dimensions = 1; dimensions <= 4; ++dimensions) {
      const std::vector<int> extents = weft::balanced_extents(ranks, dimensions);
      CAPTURE(ranks, extents);
      CHECK(std::accumulate(extents.begin(), extents.end(), 1, std::multiplies<>()) == ranks);
      CHECK(std::ranges::is_sorted(extents, std::greater<>()));
      CHECK(std::accumulate(extents.begin(), extents.end(), 0) == least_sum(ranks, static_cast<int>(dimensions)));
    }
  CHECK(weft::balanced_extents(24, std::vector<int>{0, 2, 0}) == std::vector<int>{4, 2, 3});
  CHECK(weft::balanced_extents(1 << 20, 3) == std::vector<int>{128, 128, 64});
  CHECK(weft::balanced_extents(65'537, 3) == std::vector<int>{65'537, 1, 1});
  CHECK(weft::balanced_extents(1, 0).empty());
  for (const std::vector<int>& wrong : {std::vector<int>{5, 0}, {-2, 0}, {2, 3}, {}, {1 << 20, 1 << 20, 0}})
    CHECK(code_of([&] { weft::balanced_extents(12, wrong); }) == weft::errc::invalid_count);
}

TEST_CASE("ranks and coordinates of a grid are each other's inverse, and end where it does", "[grids]") {
  const weft::grid_shape shape({3, 1, 4}, {true, false, false});
  std::set<std::vector<int>> seen;
  for (int rank = 0; rank < shape.size(); ++rank) {
    const auto at = shape.coordinates(rank);
    CHECK(shape.rank_at(at) == rank);
    CHECK(at[0] * 4 + at[2] == rank);
    seen.insert(at);
    CHECK(shape.shift(rank, 0, 4).destination == (rank + 4) % 12);
    CHECK(shape.shift(rank, 0, 2'000'000'001).source == shape.shift(rank, 0, 0).source);
    CHECK(shape.shift(rank, 1, 1).source == std::nullopt);
    CHECK(shape.shift(rank, 2, -1).destination == (at[2] == 0 ? std::nullopt : std::optional(rank - 1)));
    CHECK(shape.shift(rank, 2, -2'000'000'000).source == std::nullopt);
    const auto all = shape.neighbors(rank);
    REQUIRE(all.size() == 6);
    for (std::size_t d = 0; d < 3; ++d) {
      CHECK(all[2 * d] == shape.shift(rank, d, 1).source);
      CHECK(all[2 * d + 1] == shape.shift(rank, d, 1).destination);
    }
  }
  CHECK(seen.size() == 12);
  CHECK(shape.rank_at(std::array{-1, 0, 1}) == 9);
  CHECK(shape.rank_at(std::array{7, 0, 1}) == 5);
  CHECK(shape.rank_at(std::array{0, 1, 0}) == std::nullopt);
  CHECK(weft::grid_shape({}).rank_at({}) == 0);
  CHECK(code_of([&] { (void)shape.coordinates(12); }) == weft::errc::invalid_rank);
  CHECK(code_of([&] { (void)shape.rank_at(std::array{1, 0}); }) == weft::errc::invalid_count);
  CHECK(code_of([&] { (void)shape.shift(0, 3, 1); }) == weft::errc::invalid_argument);
  CHECK(code_of([&] { weft::grid_shape({3, 0}); }) == weft::errc::invalid_count);
  CHECK(code_of([&] { weft::grid_shape({3, 2}, {true}); }) == weft::errc::invalid_count);
  CHECK(code_of([&] { weft::grid_shape({1 << 20, 1 << 20}); }) == weft::errc::invalid_count);
}

TEST_CASE("places by node are a permutation with fewer neighbours on different nodes", "[grids]") {
  struct {
    std::vector<int> extents;
    int each;
    std::int64_t most;  // pairs in blocks
  } const cases[] = {{{4, 4}, 4, 8}, {{8, 8}, 16, 16}, {{4, 4, 4}, 8, 48},
                     {{16}, 4, 3},   {{6, 4}, 6, 10},  {{2, 2}, 4, 0}};
  for (const auto& [extents, each, most] : cases)
    for (const bool dealt : {false, true}) {
      const weft::grid_shape shape(extents);
      const auto nodes = nodes_of(shape.size(), each, dealt);
      const auto places = weft::detail::places_by_node(shape, nodes);
      CAPTURE(extents, each, dealt);
      CHECK(std::set<int>(places.begin(), places.end()).size() == nodes.size());
      const auto before = weft::detail::pairs_between_nodes(shape, nodes);
      const auto after = weft::detail::pairs_between_nodes(shape, at_places(nodes, places));
      CHECK(after == most);
      CHECK(after <= before);
      if (dealt && each < shape.size()) CHECK(after < before);
    }
  // Nodes that do not have as many, and ranks that nothing would tile.
  for (const std::vector<int>& nodes : {std::vector<int>{0, 1, 0, 1, 0, 0}, {0, 1, 2, 0, 1, 2}, {0, 1, 0, 1, 0, 1}}) {
    const weft::grid_shape shape({6});
    const auto places = weft::detail::places_by_node(shape, nodes);
    CHECK(std::set<int>(places.begin(), places.end()).size() == 6);
    CHECK(weft::detail::pairs_between_nodes(shape, at_places(nodes, places)) ==
          static_cast<std::int64_t>(std::set<int>(nodes.begin(), nodes.end()).size()) - 1);
  }
}

TEST_CASE("a grid has the ranks of its communicator, and sub-grids those of a row", "[grids]") {
  run_ranks(jobs_of_eight(), [](weft::communicator& world) {
    weft::grid cells(world, {0, 2}, {true, false});
    expect(cells.shape() == weft::grid_shape({4, 2}, {true, false}), "four by two");
    expect(cells.rank() == world.rank() && cells.size() == 8, "as ranked");
    const auto at = cells.coordinates();
    weft::grid column = cells.keep({true, false}), row = cells.keep({false, true}), all = cells.keep({true, true}),
               alone = cells.keep({false, false});
    expect(column.shape() == weft::grid_shape({4}, {true}) && column.rank() == at[0], "a column");
    expect(row.shape() == weft::grid_shape({2}) && row.rank() == at[1], "a row");
    expect(all.shape() == cells.shape() && all.rank() == cells.rank(), "all");
    expect(alone.size() == 1 && alone.neighbors().empty(), "a grid of one rank");
    expect(column.allreduce(at[1], weft::max) == at[1] && row.allreduce(at[0], weft::max) == at[0], "those in it");
    expect(weft::grid(world, {}, {true, true, true}).shape() == weft::grid_shape({2, 2, 2}, {true, true, true}),
           "extents that are chosen");
    expect_error(weft::errc::invalid_count, [&] { weft::grid(world, {3, 0}); });
    expect_error(weft::errc::invalid_count, [&] { weft::grid(world, {2, 2}); });
    expect_error(weft::errc::invalid_count, [&] { cells.keep({true}); });
    expect_text(expect_error(weft::errc::mismatched_call,
                             [&] {
                               weft::grid(world, {world.rank() == 3 ? 2 : 4, 0});
                             }),
                "rank 3 gives others");
  });
}

TEST_CASE("ranks that are placed by node have neighbours on their node", "[grids]") {
  job what = small_job(8);
  what.nodes = {"a", "b", "a", "b", "a", "b", "a", "b"};
  std::vector<int> between(2, -1);
  for (const bool by_node : {false, true})
    run_ranks(what, [&](weft::communicator& world) {
      weft::grid cells(world, {4, 2}, {}, by_node ? weft::placement::by_node : weft::placement::as_ranked);
      const std::vector<int> nodes = cells.allgather(world.rank() % 2);
      const auto pairs = weft::detail::pairs_between_nodes(cells.shape(), nodes);
      if (world.rank() == 0) between[by_node ? 1 : 0] = static_cast<int>(pairs);
      // And what neighbours exchange is between these.
      std::vector<int> theirs(4, -1);
      cells.neighbor_allgather(std::array{cells.rank()}, theirs);
      for (std::size_t i = 0; i < 4; ++i) expect(theirs[i] == cells.neighbors()[i].value_or(-1), "neighbour ", i);
    });
  CHECK(between == std::vector<int>{4, 2});
}

TEST_CASE("neighbours get each other's blocks, also those that are neighbours twice", "[grids]") {
  const std::vector<int> shapes[] = {{8}, {4, 2}, {2, 2, 2}, {8, 1}, {2, 1, 2, 2}};
  const std::size_t shape = GENERATE(0, 1, 2, 3, 4);
  const std::vector<int>& extents = shapes[shape];
  // None is periodic, all are, every second is: by turns, from a drawn one on.
  const int drawn_kind = static_cast<int>((seed_of_this_run() + shape) % 3);
  const int kind = GENERATE_COPY(from_range(thorough() ? std::vector{0, 1, 2} : std::vector{drawn_kind}));
  CAPTURE(extents, kind);
  run_ranks(jobs_of_eight(), [&](weft::communicator& world) {
    std::vector<bool> periodic;
    for (std::size_t d = 0; d < extents.size(); ++d) periodic.push_back(kind == 1 || (kind == 2 && d % 2 == 0));
    weft::grid cells(world, extents, periodic);
    const auto neighbors = cells.neighbors();
    const std::size_t blocks = neighbors.size();
    for (const std::size_t scale : {1, 40, 3000}) {
      const auto count = [&](int from, std::size_t i) { return scale * (static_cast<std::size_t>(from) % 3 + i % 2); };
      std::vector<int> in, out, uneven_in, uneven_out, gathered, uneven_gathered;
      std::vector<int> sent;
      std::vector<std::size_t> received, gathers;
      for (std::size_t i = 0; i < blocks; ++i) {
        append(in, block_to(cells.rank(), i, scale));
        sent.push_back(static_cast<int>(count(cells.rank(), i)));
        append(uneven_in, block_to(cells.rank(), i, count(cells.rank(), i)));
        const std::vector<int> kept(scale, -1);
        append(out, neighbors[i] ? block_to(*neighbors[i], i ^ 1, scale) : kept);
        append(gathered, neighbors[i] ? block_to(*neighbors[i], 0, scale) : kept);
        received.push_back(neighbors[i] ? count(*neighbors[i], i ^ 1) : 2);
        append(uneven_out, neighbors[i] ? block_to(*neighbors[i], i ^ 1, received[i]) : std::vector<int>(2, -1));
        gathers.push_back(neighbors[i] ? count(*neighbors[i], 0) : 1);
        append(uneven_gathered, neighbors[i] ? block_to(*neighbors[i], 0, gathers[i]) : std::vector<int>(1, -1));
      }
      const std::vector<int> own = block_to(cells.rank(), 0, scale),
                             uneven_own = block_to(cells.rank(), 0, count(cells.rank(), 0));
      std::vector<int> into;
      const auto all_forms = [&](const char* what, const std::vector<int>& right, auto call, auto started,
                                 auto planned) {
        into.assign(right.size(), -1);
        call();
        expect(into == right, what, " of ", scale);
        into.assign(right.size(), -1);
        started().wait();
        expect(into == right, "started ", what, " of ", scale);
        weft::plan made = planned();
        for (int run = 0; run < 3; ++run) {
          into.assign(right.size(), -1);
          made.start();
          made.wait();
          expect(into == right, "planned ", what, " of ", scale);
        }
      };
      all_forms(
          "alltoall", out, [&] { cells.neighbor_alltoall(in, into); },
          [&] { return cells.ineighbor_alltoall(in, into); }, [&] { return cells.plan_neighbor_alltoall(in, into); });
      all_forms(
          "alltoall with counts", uneven_out, [&] { cells.neighbor_alltoall(uneven_in, into, sent, received); },
          [&] { return cells.ineighbor_alltoall(uneven_in, into, sent, received); },
          [&] { return cells.plan_neighbor_alltoall(uneven_in, into, sent, received); });
      all_forms(
          "allgather", gathered, [&] { cells.neighbor_allgather(own, into); },
          [&] { return cells.ineighbor_allgather(own, into); },
          [&] { return cells.plan_neighbor_allgather(own, into); });
      all_forms(
          "allgather with counts", uneven_gathered, [&] { cells.neighbor_allgather(uneven_own, into, gathers); },
          [&] { return cells.ineighbor_allgather(uneven_own, into, gathers); },
          [&] { return cells.plan_neighbor_allgather(uneven_own, into, gathers); });
    }
  });
}

TEST_CASE("exchanges with neighbours are apart from messages of the program, and from each other", "[grids]") {
  run_ranks(jobs_of_all_roads(), [](weft::communicator& world) {
    weft::grid ring(world, {0}, {true});
    const int next = *ring.neighbors()[1], before = *ring.neighbors()[0];
    std::vector<int> in(2, ring.rank()), first(2, -1), second(2, -1), third(2, -1), got(1, -1);
    weft::plan planned = ring.plan_neighbor_alltoall(std::span(in), third);
    weft::handle any = ring.irecv(got);
    weft::handle one = ring.ineighbor_alltoall(in, first),
                 two = ring.ineighbor_allgather(std::span(in).first(1), second);
    planned.start();
    expect(!ring.iprobe(), "no message of the program");
    ring.send(std::array{ring.rank() + 50}, next, 1);
    two.wait();
    planned.wait();
    one.wait();
    expect(any.wait().source == before && got[0] == before + 50, "the program's message");
    for (const auto& each : {first, second, third}) expect(each == std::vector<int>{before, next}, "the neighbours");
  });
}

TEST_CASE("neighbours that do not agree are told, and buffers that are wrong are refused", "[grids]") {
  run_ranks(jobs_of_all_roads(), [](weft::communicator& world) {
    weft::grid ring(world, {0}, {true});
    std::vector<int> in(4), out(4), odd(3);
    const auto refused = [&](weft::errc code, const char* text, auto&& call) {
      expect_text(expect_error(code, call), text);
    };
    using enum weft::errc;
    refused(invalid_count, "neighbor_alltoall on rank", [&] { ring.neighbor_alltoall(odd, out); });
    refused(invalid_count, "3 elements, which are not as many for each of 2",
            [&] { ring.neighbor_alltoall(odd, out); });
    refused(invalid_count, "the input has 4 elements, the output 2",
            [&] { ring.neighbor_alltoall(in, std::span(out).first(2)); });
    refused(invalid_count, "for 2 neighbours", [&] { ring.neighbor_allgather(in, out); });
    refused(invalid_count, "the count of neighbour 1 is -1", [&] { ring.neighbor_alltoall(in, out, {5, -1}, {2, 2}); });
    refused(invalid_count, "there are 3 counts", [&] { (void)ring.ineighbor_allgather(in, out, {2, 1, 1}); });
    refused(invalid_count, "add up to 3", [&] { (void)ring.plan_neighbor_alltoall(in, out, {2, 2}, {2, 1}); });
    refused(invalid_buffer, "overlap", [&] { ring.neighbor_alltoall(in, in); });
    if (ring.size() < 3) return;
    world.barrier();
    // Rank 0 sends its neighbour above fewer than that expects.
    const std::vector<std::size_t> sent{2, ring.rank() == 0 ? 1u : 2u};
    std::vector<int> shorter(ring.rank() == 0 ? 3 : 4);
    if (ring.rank() == 1)
      refused(mismatched_call, "rank 0 sent 4 bytes where 8 were expected", [&] {
        ring.neighbor_alltoall(shorter, out, sent, {2, 2});
      });
    else
      ring.neighbor_alltoall(shorter, out, sent, {2, 2});
    world.barrier();
  });
}

TEST_CASE("an exchange with neighbours that is late says who is missing, and can be waited for", "[grids][deadlines]") {
  run_ranks(small_job(3), [](weft::communicator& world) {
    weft::grid line(world, {3});
    std::vector<int> in(2000, line.rank()), out(2000, -1);
    if (line.rank() == 0) {
      (void)line.recv_value<int>(1);  // both have given up
      line.neighbor_alltoall(in, out);
    } else {
      std::vector<weft::handle> left;
      {
        const weft::deadline soon(20ms);
        try {
          line.neighbor_alltoall(in, out);
        } catch (const weft::timed_out& late) {
          expect(late.missing().size() == 1 && late.missing()[0] == 0, "rank 0 to be missing");
          left.push_back(std::move(late.calls()[0]));
        }
      }
      if (line.rank() == 1) {
        expect(left.size() == 1, "late");
        line.send(1, 0);
      }
      weft::wait_all(left);
      expect(out[0] == line.rank() - 1, "the neighbour's");
    }
  });
}

TEST_CASE("a grid's exchanges end with it", "[grids]") {
  const bool aborts = GENERATE(true, false);
  run_ranks(small_job(2), [=](weft::communicator& world) {
    weft::grid line(world, {2}, {true});
    std::vector<int> in(2, world.rank()), out(2, -1);
    if (world.rank() == 0) {
      weft::handle mine = line.ineighbor_alltoall(in, out);
      weft::communicator& as_any = line;
      aborts ? as_any.abort() : as_any.revoke();
      if (aborts) out.assign(2, -2);
      expect_error(weft::errc::revoked, [&] { mine.wait(); });
      world.barrier();
      if (aborts) expect(out == std::vector{-2, -2}, "nobody to touch them");
    } else {
      std::vector<int> never(1);
      expect_error(weft::errc::revoked, [&] { line.recv(never, 0); });
      expect_error(weft::errc::revoked, [&] { line.neighbor_alltoall(in, out); });
      world.barrier();
    }
    expect_error(weft::errc::revoked, [&] { line.barrier(); });
  });
}

TEST_CASE("a handle of an exchange that an exception drops ends the grid", "[grids]") {
  run_ranks(small_job(2), [](weft::communicator& world) {
    weft::grid line(world, {2}, {true});
    const std::vector<int> in(2);
    std::vector<int> out(2);
    if (world.rank() == 0) {
      try {
        const weft::handle dropped = line.ineighbor_alltoall(in, out);
        throw std::runtime_error("the program's own");
      } catch (const std::runtime_error&) {
      }
      expect_error(weft::errc::revoked, [&] { line.barrier(); });
    } else {
      std::vector<int> never(1);
      expect_error(weft::errc::revoked, [&] { line.recv(never, 0); });
    }
    world.barrier();
  });
}

TEST_CASE("ranks that keep different dimensions of a grid are told", "[grids]") {
  run_ranks(small_job(4), [](weft::communicator& world) {
    weft::grid torus(world, {2, 2}, {true, true});
    const bool rows = world.rank() == 0;
    expect_error(weft::errc::mismatched_call, [&] { (void)torus.keep({rows, !rows}); });
  });
}
