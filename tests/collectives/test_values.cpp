// SPDX-License-Identifier: Apache-2.0
// Messages and collectives of values, and what sizes its result.
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <vector>
#include <weft/array_view.hpp>
#include <weft/deadline.hpp>

#include "roads.hpp"

using namespace weft_test;
using namespace std::chrono_literals;

namespace {

struct point {
  double x = 0, y = 0;
  friend bool operator==(const point&, const point&) = default;
};

std::vector<int> row_of(int rank) { return std::vector<int>(static_cast<std::size_t>(rank % 3), 10 * rank); }

std::vector<int> rows_of_all(int ranks) {
  std::vector<int> all;
  for (int rank = 0; rank < ranks; ++rank)
    for (const int each : row_of(rank)) all.push_back(each);
  return all;
}

}  // namespace

TEST_CASE("collectives of a value return what all have made of it", "[values]") {
  run_ranks(jobs_of_all_roads(), [](weft::communicator& world) {
    const int size = world.size(), rank = world.rank(), all = size * (size + 1) / 2;
    expect(world.allreduce(rank + 1, weft::sum) == all, "allreduce");
    expect(world.scan(rank + 1, weft::sum) == (rank + 1) * (rank + 2) / 2, "scan");
    expect(world.exscan(rank + 1, weft::sum) == rank * (rank + 1) / 2, "exscan");
    expect(world.exscan(rank + 1, weft::product, 1) == static_cast<int>(std::tgamma(rank + 1) + 0.5),
           "exscan with what the first gets");
    const std::optional<double> greatest = world.reduce(rank * 0.5, weft::max, size - 1);
    expect(greatest.has_value() == (rank == size - 1), "reduce: the root alone has it");
    expect(greatest.value_or(0.5 * (size - 1)) == 0.5 * (size - 1), "reduce");
    const point from_root = world.bcast(rank == 0 ? point{1, 2} : point{}, 0);
    expect(from_root == point{1, 2}, "bcast");
    std::vector<int> ranks(static_cast<std::size_t>(size));
    std::iota(ranks.begin(), ranks.end(), 0);
    expect(world.allgather(rank) == ranks, "allgather");
    expect(world.gather(rank, 0) == (rank == 0 ? ranks : std::vector<int>()), "gather");
    expect(world.scatter(rank == 0 ? ranks : std::vector<int>(), 0) == rank, "scatter");
  });
}

TEST_CASE("the standard's function objects are built-in operators", "[values]") {
  static_assert(weft::combines<std::plus<>, double> && weft::combines<std::plus<double>, double>);
  static_assert(!weft::combines<std::plus<float>, double> && !weft::combines<std::bit_and<>, double>);
  static_assert(!weft::combines<std::minus<>, double>);
  run_ranks(jobs_of_all_roads(), [](weft::communicator& world) {
    const int rank = world.rank(), size = world.size();
    const auto same = [&](int value, auto standard, auto builtin) {
      expect(world.allreduce(value, standard) == world.allreduce(value, builtin), "value ", value);
    };
    same(rank + 1, std::plus<>(), weft::sum);
    same(rank + 1, std::multiplies<int>(), weft::product);
    same(rank | 4, std::bit_and<>(), weft::bit_and);
    same(1 << rank, std::bit_or<>(), weft::bit_or);
    same(rank + 5, std::bit_xor<>(), weft::bit_xor);
    same(rank, std::logical_and<>(), weft::logical_and);
    same(rank, std::logical_or<>(), weft::logical_or);
    std::vector<double> values(1000, 0.5);
    world.allreduce(values, values, std::plus<>());
    expect(values == std::vector<double>(1000, 0.5 * size), "a vector");
  });
}

TEST_CASE("an operator of two elements combines each, in the order of the ranks where it does not commute",
          "[values]") {
  run_ranks(jobs_of_all_roads(), [](weft::communicator& world) {
    const auto longer =
        weft::make_operator<double>([](double a, double b) { return std::hypot(a, b); }, weft::commutes);
    expect(std::abs(world.allreduce(1.0, longer) - std::sqrt(world.size())) < 1e-12, "hypot");
    const auto later = weft::make_operator<point>(
        [](const point& a, const point& b) {
          return point{a.x, b.y};
        },
        weft::does_not_commute);
    const double rank = world.rank(), last = world.size() - 1;
    std::vector<point> points(100, {rank, rank});
    world.allreduce(points, points, later);
    expect(points == std::vector<point>(100, {0, last}), "the first's x, and the last's y");
  });
}

TEST_CASE("a receive without a buffer takes a message however long it is", "[values]") {
  run_ranks(jobs_of_all_roads(), [](weft::communicator& world) {
    const int rank = world.rank(), next = (rank + 1) % world.size(), before = (rank + world.size() - 1) % world.size();
    for (const std::size_t length : {0, 1, 1000, 100'000}) {
      const std::vector<int> data(length, rank);
      weft::handle sent = world.isend(data, next, 3);
      expect(world.recv<int>(before, 3) == std::vector<int>(length, before), "of ", length);
      sent.wait();
    }
    const std::array mine{2.5 * rank};
    weft::handle sent = world.isend(mine, next);
    expect(world.recv_value<double>(before) == 2.5 * before, "a value");
    sent.wait();
    if (rank == 0) world.send(point{3, 4}, 0, 9);
    if (rank == 0) expect(world.recv_value<point>(0, 9) == point{3, 4}, "a value sent to oneself");
  });
}

TEST_CASE("a message that is no whole number of elements is refused, and no other is lost", "[values]") {
  run_ranks(small_job(2), [](weft::communicator& world) {
    if (world.rank() == 1) {
      world.send(std::array<char, 13>{}, 0);
      world.send(std::array{1.0, 2.0}, 0);
      world.send(std::array<float, 1>{}, 0);
      world.send(7, 0);
      return;
    }
    expect_error(weft::errc::mismatched_call, [&] { (void)world.recv<double>(1); });
    expect_error(weft::errc::truncated, [&] { (void)world.recv_value<double>(1); });
    expect_error(weft::errc::mismatched_call, [&] { (void)world.recv_value<double>(1); });
    expect(world.recv_value<int>(1) == 7, "the next one");
  });
}

namespace {

using numbers = std::vector<int>;
template <class R>
concept received_into = requires(weft::communicator& world, R&& data) {
  world.irecv(std::forward<R>(data), 0);
};
template <class R>
concept sent_from = requires(weft::communicator& world, R&& data) {
  world.isend(std::forward<R>(data), 0);
};
template <class T>
concept a_value = requires(weft::communicator& world, const T& value) {
  world.allgather(value);
};

struct without_default {
  explicit without_default(int);
  int number;
};

}  // namespace

TEST_CASE("buffers that would be gone, and values that have no vectors, do not compile", "[values]") {
  STATIC_REQUIRE(received_into<numbers&>);
  STATIC_REQUIRE(received_into<std::span<int>>);
  STATIC_REQUIRE(received_into<weft::array_view<int, 2>>);
  STATIC_REQUIRE_FALSE(received_into<numbers>);
  STATIC_REQUIRE(sent_from<const numbers&>);
  STATIC_REQUIRE_FALSE(sent_from<numbers>);
  STATIC_REQUIRE(a_value<double>);
  STATIC_REQUIRE_FALSE(a_value<bool>);
  STATIC_REQUIRE_FALSE(a_value<without_default>);
}

TEST_CASE("gathers of as many elements as each has size their result", "[values]") {
  run_ranks(jobs_of_all_roads(), [](weft::communicator& world) {
    const int size = world.size(), root = size - 1;
    std::vector<std::size_t> counts, right;
    for (int rank = 0; rank < size; ++rank) right.push_back(row_of(rank).size());
    expect(world.allgatherv(row_of(world.rank())) == rows_of_all(size), "allgatherv");
    expect(world.allgatherv(row_of(world.rank()), &counts) == rows_of_all(size) && counts == right, "with counts");
    const bool is_root = world.rank() == root;
    expect(world.gatherv(row_of(world.rank()), root, &counts) == (is_root ? rows_of_all(size) : std::vector<int>()),
           "gatherv");
    expect(counts == (is_root ? right : std::vector<std::size_t>()), "its counts");
  });
}

TEST_CASE("nothing is in flight after the deadline of a call that has the buffers itself", "[values][deadlines]") {
  const auto [processes, each] = GENERATE(std::pair(2, 1), std::pair(1, 2));
  run_ranks(small_job(processes, each), [](weft::communicator& world) {
    weft::communicator mine = world.dup();
    if (world.rank() == 0) {
      std::optional<weft::timed_out> late;
      try {
        const weft::deadline soon(20ms);
        (void)mine.allreduce(1, weft::sum);
      } catch (const weft::timed_out& error) {
        late = error;
      }
      expect(late && late->calls().empty(), "too late, and nothing of it is in flight");
      expect_error(weft::errc::revoked, [&] { (void)mine.allreduce(1, weft::sum); });
      world.send(1, 1);
    } else {
      expect(world.recv_value<int>(0) == 1, "rank 0 has given up");
      const auto sums = [&] {  // the first may find what rank 0 had given before
        for (int time = 0; time < 2; ++time) (void)mine.allreduce(1, weft::sum);
      };
      expect_error(weft::errc::revoked, sums);
    }
    expect(world.allreduce(1, weft::sum) == 2, "the next sum");
  });
}
