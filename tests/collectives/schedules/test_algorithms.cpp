// SPDX-License-Identifier: Apache-2.0
// What the table of algorithms promises.
#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <weft/schedules/builders.hpp>

#include "catch.hpp"
#include "random_run.hpp"
#include "sanitized.hpp"
#include "seed.hpp"
#include "shapes.hpp"
#include "thorough.hpp"

using namespace weft::schedules;
using namespace weft_test;

namespace {

constexpr int most_ranks = slowed ? 9 : 40;

/// Of many ranks only some shapes: every `stride`-th from a drawn one on, so that all values of all parameters come by.
template <class Each>
void for_each_shape_up_to(int ranks, Each&& each) {
  const auto seed = test_seed();
  INFO("WEFT_TEST_SEED=" << seed);
  const int from = static_cast<int>(seed % 1000);
  for (const algorithm& by : algorithms())
    // Patterns of shared memory do the same with any number of ranks, and set a flag for each pair in every round.
    for (int n = 1; n <= (by.pattern == memory_pattern::none ? ranks : std::min(ranks, 20)); ++n) {
      int number = 0;
      const int stride = n <= 12 ? 1 : thorough() ? 5 : 13;
      for_each_shape(by, n, [&](const algorithm_arguments& shape) {
        if ((number++ + from + n) % stride == 0) each(by, shape);
      });
    }
}

bool promises_order(const algorithm& by, const algorithm_arguments& shape) {
  switch (by.order) {
    case rank_order::kept:
      return true;
    case rank_order::on_request:
      return shape.root == 0 || shape.keep_order;
    case rank_order::kept_for_root:
      return shape.root == 0;
    case rank_order::kept_in_rows: {
      std::vector<int> all;
      for (const auto& members : shape.groups) all.insert(all.end(), members.begin(), members.end());
      return std::is_sorted(all.begin(), all.end());
    }
    case rank_order::not_kept:
      break;
  }
  return false;
}

std::size_t bytes_sent(const schedule& of, std::size_t elements) {
  std::size_t sum = 0;
  for (const step& s : of.steps)
    if (s.kind == step_kind::send)
      for (const segment& part : of.sources_of(s)) sum += elements_of(of.cut, elements, part.elements).count;
  return sum;
}

std::size_t messages_sent(const schedule& of) {
  return static_cast<std::size_t>(
      std::count_if(of.steps.begin(), of.steps.end(), [](const step& s) { return s.kind == step_kind::send; }));
}

}  // namespace

TEST_CASE("every algorithm verifies, in every shape, and keeps the order that it promises") {
  for_each_shape_up_to(most_ranks, [](const algorithm& by, const algorithm_arguments& shape) {
    const auto all = schedules_of(by, shape);
    INFO(text_of(by, shape));
    REQUIRE(fault_in(meant_by(by, shape), all) == "");
    if (promises_order(by, shape) && shape.ranks <= 12) REQUIRE(keeps_rank_order(meant_by(by, shape), all));
  });
}

TEST_CASE("every algorithm runs right in any order that can happen") {
  const auto seed = test_seed();
  INFO("WEFT_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  for_each_shape_up_to(9, [&](const algorithm& by, const algorithm_arguments& shape) {
    if (random() % (slowed ? 20 : thorough() ? 4 : 10) != 0) return;
    const auto all = schedules_of(by, shape);
    for (const std::size_t elements : {std::size_t{0}, std::size_t{1}, std::size_t{64}}) {
      const bool in_place = random() % 2 == 0, in_order = random() % 2 == 0, buffered = random() % 2 == 0;
      INFO(text_of(by, shape));
      CAPTURE(elements, in_place, in_order, buffered);
      REQUIRE(runs_right({meant_by(by, shape), elements, in_place, in_order, buffered}, all, random));
    }
  });
}

TEST_CASE("names are unique, and found") {
  std::set<std::pair<collective, std::string_view>> names;
  for (const algorithm& by : algorithms()) {
    REQUIRE(names.insert({by.kind, by.name}).second);
    REQUIRE(find_algorithm(by.kind, by.name) == &by);
    REQUIRE(name(by.kind) != "");
  }
  REQUIRE(find_algorithm(collective::scan, "ring") == nullptr);
}

TEST_CASE("costs grow with every price, and alone nothing costs anything") {
  for_each_shape_up_to(most_ranks, [](const algorithm& by, const algorithm_arguments& shape) {
    INFO(text_of(by, shape));
    const double cost = by.cost(shape, 1e6, {1, 1e-3, 1e-4});
    REQUIRE(std::isfinite(cost));
    if (shape.ranks == 1) REQUIRE(cost == 0);
    for (const link_costs& dearer : {link_costs{2, 1e-3, 1e-4}, link_costs{1, 2e-3, 1e-4}, link_costs{1, 1e-3, 2e-4}})
      REQUIRE(by.cost(shape, 1e6, dearer) >= cost);
  });
}

TEST_CASE("Matsuda's gains with 10 connections and no latency, 1.43 and 2.38 times, but for what their rows take") {
  algorithm_arguments shape;
  shape.ranks = 1 << 20;  // of so many each has next to nothing of the vector
  shape.connections = 10;
  shape.groups = rows(shape.ranks, 2);
  const auto cost = [&](collective kind, const char* name) {
    return find_algorithm(kind, name)->cost(shape, 1, {0, 1, 0});
  };
  REQUIRE(cost(collective::broadcast, "far-first") / cost(collective::broadcast, "modified-van-de-geijn") ==
          Approx(3 / 2.1).epsilon(0.01));
  REQUIRE(cost(collective::allreduce, "two-tier") / cost(collective::allreduce, "modified-rabenseifner") ==
          Approx(5 / 2.3).epsilon(0.01));
}

TEST_CASE("only the connected ranks talk to other clusters, each with its share") {
  for (const int connections : {1, 2, 3, 5})
    for (const int clusters : {2, 3}) {
      algorithm_arguments shape;
      shape.ranks = 17;
      shape.connections = connections;
      shape.groups = dealt(17, clusters);
      for (const char* const name : {"modified-van-de-geijn", "modified-rabenseifner"}) {
        const collective kind = name[9] == 'v' ? collective::broadcast : collective::allreduce;
        std::set<std::pair<int, int>> lines;
        std::size_t rank = 0, across = 0;
        for (const schedule& one : schedules_of(*find_algorithm(kind, name), shape)) {
          for (const step& s : one.steps)
            if (s.kind == step_kind::send && s.peer % clusters != static_cast<int>(rank) % clusters) {
              lines.insert({static_cast<int>(rank), s.peer});
              for (const segment& part : one.sources_of(s)) across += elements_of(one.cut, 3000, part.elements).count;
            }
          ++rank;
        }
        CAPTURE(name, connections, clusters);
        const std::size_t pairs = static_cast<std::size_t>(connections) * (kind == collective::broadcast ? 1 : 2);
        if (clusters == 2) {
          REQUIRE(lines.size() == pairs);
          REQUIRE(across == 3000 * (kind == collective::broadcast ? 1u : 2u));
        }
      }
    }
}

TEST_CASE("algorithms with groups verify among drawn ones") {
  const auto seed = test_seed();
  INFO("WEFT_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  for (const algorithm& by : algorithms()) {
    const bool takes_groups = (by.parameters & (takes::groups | takes::nodes)) != 0;
    if (!takes_groups || (by.parameters & takes::nodes_in_rows) != 0) continue;
    for (int draw = 0; draw < (slowed ? 3 : 20); ++draw) {
      algorithm_arguments shape;
      shape.ranks = std::uniform_int_distribution(1, most_ranks)(random);
      shape.by.window = std::uniform_int_distribution(1u, 4u)(random);
      shape.groups = drawn_groups(shape.ranks, random);
      INFO(text_of(by, shape));
      REQUIRE(fault_in(meant_by(by, shape), schedules_of(by, shape)) == "");
    }
  }
}

TEST_CASE("in a locality-aware Bruck few messages of a rank go between groups, and nothing comes to a group twice") {
  const algorithm& by = *find_algorithm(collective::allgather, "local-bruck");
  for (const int size : {1, 2, 3, 8})
    for (int groups = 1; size * groups <= 2 * most_ranks; ++groups) {
      algorithm_arguments shape;
      shape.ranks = size * groups;
      shape.groups = dealt(shape.ranks, groups);
      const auto rounds = static_cast<std::size_t>(std::ceil(std::log(groups) / std::log(size + 1) - 1e-9));
      std::vector<std::size_t> got(static_cast<std::size_t>(groups));
      int rank = 0;
      for (const schedule& one : schedules_of(by, shape)) {
        std::size_t far = 0;
        for (const step& s : one.steps) {
          if (s.kind != step_kind::send || s.peer % groups == rank % groups) continue;
          ++far;
          for (const segment& part : one.sources_of(s))
            got[static_cast<std::size_t>(s.peer % groups)] += part.elements.count;
        }
        CAPTURE(size, groups, rank);
        REQUIRE(far <= rounds);
        ++rank;
      }
      for (const std::size_t chunks : got) REQUIRE(chunks == static_cast<std::size_t>(size * (groups - 1)));
    }
}

TEST_CASE("among groups of one rank, and in a single one, it is Bruck's") {
  const algorithm &local = *find_algorithm(collective::allgather, "local-bruck"),
                  &bruck = *find_algorithm(collective::allgather, "bruck");
  for (int ranks = 1; ranks <= most_ranks; ++ranks)
    for (const int groups : {1, ranks}) {
      algorithm_arguments shape;
      shape.ranks = ranks;
      shape.groups = rows(ranks, groups);
      const auto one = schedules_of(local, shape), other = schedules_of(bruck, shape);
      CAPTURE(ranks, groups);
      for (std::size_t rank = 0; rank < one.size(); ++rank) {
        REQUIRE(one[rank].segments == other[rank].segments);
        REQUIRE(one[rank].dependencies == other[rank].dependencies);
      }
      REQUIRE(local.cost(shape, 1e4, {1, 1e-3, 0}) == bruck.cost(shape, 1e4, {1, 1e-3, 0}));
    }
}

TEST_CASE("no rank has children in both of the two trees") {
  for (int ranks = 1; ranks <= 200; ++ranks)
    for (const int root : {0, ranks / 3, ranks - 1})
      for (int rank = 0; rank < ranks; ++rank) {
        const auto places = two_tree_positions(ranks, root, rank);
        CAPTURE(ranks, root, rank);
        if (rank != root) REQUIRE((places[0].children.empty() || places[1].children.empty()));
        for (const auto& place : places) REQUIRE(place.children.size() <= 2);
      }
}

TEST_CASE("two trees are about as deep as one") {
  for (int ranks = 2; ranks <= 200; ++ranks)
    for (std::size_t which = 0; which < 2; ++which) {
      int deepest = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        int depth = 0;
        for (int at = rank; at != 0; at = two_tree_positions(ranks, 0, at)[which].parent) ++depth;
        deepest = std::max(deepest, depth);
      }
      CAPTURE(ranks, which);
      REQUIRE(deepest <= std::ceil(std::log2(ranks)) + 2);
    }
}

TEST_CASE("halvings and doublings take the fewest messages and bytes that there can be, for any number of ranks") {
  struct {
    collective kind;
    const char* name;
    std::size_t phases;
  } const rows[] = {{collective::allreduce, "butterfly", 2},
                    {collective::reduce_scatter, "recursive-halving", 1},
                    {collective::allgather, "bruck", 1}};
  for (const auto& row : rows)
    for (int ranks = 2; ranks <= 130; ++ranks) {
      algorithm_arguments shape;
      shape.ranks = ranks;
      const auto n = static_cast<std::size_t>(ranks);
      const std::size_t elements = 6 * n;
      CAPTURE(row.name, ranks);
      for (const schedule& one : schedules_of(*find_algorithm(row.kind, row.name), shape)) {
        REQUIRE(messages_sent(one) == row.phases * static_cast<std::size_t>(std::ceil(std::log2(ranks))));
        REQUIRE(bytes_sent(one, elements) == row.phases * (n - 1) * 6);
      }
    }
}

TEST_CASE("a row of ranks cut into r parts takes rounds of r - 1 messages, and no more bytes") {
  for (const int degree : {2, 3, 4, 8, 100})
    for (int ranks = 2; ranks <= 100; ++ranks) {
      algorithm_arguments shape;
      shape.ranks = ranks;
      shape.degree = degree;
      std::size_t messages = 0, rounds = 0;
      for (int row = ranks; row > 1; row = (row - 1) / degree + 1, ++rounds)
        messages += static_cast<std::size_t>((row - 1) / ((row - 1) / degree + 1));
      CAPTURE(degree, ranks);
      REQUIRE(rounds <= static_cast<std::size_t>(std::ceil(std::log(ranks) / std::log(degree) - 1e-9)));
      for (const schedule& one :
           schedules_of(*find_algorithm(collective::reduce_scatter, "recursive-halving"), shape)) {
        REQUIRE(messages_sent(one) == messages);
        REQUIRE(bytes_sent(one, 6 * static_cast<std::size_t>(ranks)) == 6 * static_cast<std::size_t>(ranks - 1));
      }
    }
}

TEST_CASE("halvings and doublings verify among many ranks") {
  for (const auto& [kind, name] : {std::pair{collective::allreduce, "butterfly"},
                                   {collective::reduce_scatter, "recursive-halving"},
                                   {collective::allgather, "bruck"}})
    for (int ranks = most_ranks + 1; ranks <= (slowed ? 33 : 130); ranks += ranks % 8 == 0 ? 1 : 3)
      for (const pipeline by : {pipeline{1, 4}, {3, 1}}) {
        algorithm_arguments shape;
        shape.ranks = ranks;
        shape.by = by;
        const algorithm& how = *find_algorithm(kind, name);
        INFO(text_of(how, shape));
        REQUIRE(fault_in(meant_by(how, shape), schedules_of(how, shape)) == "");
      }
}

TEST_CASE("Bruck's all-to-all takes the fewest rounds there can be") {
  for (int ranks = 2; ranks <= most_ranks; ++ranks) {
    algorithm_arguments shape;
    shape.ranks = ranks;
    const auto rounds = static_cast<std::size_t>(std::ceil(std::log2(ranks)));
    for (const schedule& one : schedules_of(*find_algorithm(collective::alltoall, "bruck"), shape))
      REQUIRE(messages_sent(one) == rounds);
  }
}

TEST_CASE("algorithms refuse shapes that make no sense") {
  for (const algorithm& by : algorithms()) {
    schedule_sink to;
    INFO(name(by.kind) << " " << by.name);
    const auto refuses = [&](auto&& change) {
      algorithm_arguments shape;
      shape.ranks = 6;
      change(shape);
      REQUIRE_THROWS_AS(by.emit(shape, to), std::invalid_argument);
    };
    refuses([](auto& shape) { shape.rank = 6; });
    refuses([](auto& shape) { shape.rank = -1; });
    if ((by.parameters & takes::root) != 0) refuses([](auto& shape) { shape.root = 6; });
    if ((by.parameters & takes::segments) != 0) refuses([](auto& shape) { shape.by.segments = 0; });
    if ((by.parameters & takes::window) != 0) refuses([](auto& shape) { shape.by.window = 0; });
    if ((by.parameters & takes::degree) != 0) refuses([](auto& shape) { shape.degree = 1; });
    if ((by.parameters & takes::connections) != 0) refuses([](auto& shape) { shape.connections = 0; });
    if ((by.parameters & takes::order) != 0) refuses([](auto& shape) { shape.order = {0, 1, 2, 3, 4, 4}; });
    if ((by.parameters & takes::nodes_in_rows) != 0) refuses([](auto& shape) { shape.groups = dealt(6, 2); });
    if ((by.parameters & (takes::groups | takes::nodes)) != 0) {
      refuses([](auto& shape) { shape.groups = {{0, 1, 2}, {2, 3, 4, 5}}; });
      refuses([](auto& shape) { shape.groups = {{0, 1, 2, 3, 4, 5}, {}}; });
    }
  }
}
