// SPDX-License-Identifier: Apache-2.0
// The choice among algorithms.
#include <algorithm>
#include <functional>
#include <limits>
#include <random>
#include <stdexcept>
#include <string_view>
#include <weft/schedules/machine_costs.hpp>
#include <weft/schedules/selection.hpp>

#include "catch.hpp"
#include "seed.hpp"

using namespace weft::schedules;
using weft_test::test_seed;

namespace {

std::vector<collective> all_collectives() {
  std::vector<collective> all;
  for (std::size_t i = 0; i < collectives; ++i) all.push_back(static_cast<collective>(i));
  return all;
}

constexpr link_costs only_rounds{1, 0, 0}, only_bytes{0, 1, 0};

algorithm_arguments shape_of(int ranks, std::uint32_t segments = 1) {
  algorithm_arguments shape;
  shape.ranks = ranks;
  shape.by.segments = segments;
  return shape;
}

}  // namespace

TEST_CASE("collectives have names, each its own") {
  for (const collective kind : all_collectives()) {
    CHECK(find_collective(option_name(kind)) == kind);
    CHECK_FALSE(algorithms_of(kind).empty());
    for (const algorithm& each : algorithms_of(kind)) CHECK(each.kind == kind);
  }
  CHECK_FALSE(find_collective("gossip").has_value());
}

namespace {

/// What `how` meets.
demands asked_of(const algorithm& how) {
  demands asked;
  asked.by_pattern = how.pattern != memory_pattern::none;
  return asked;
}

}  // namespace

TEST_CASE("what is wanted is taken, of whatever length") {
  for (const algorithm& wanted : algorithms()) {
    selection_parameters by;
    by.wanted[static_cast<std::size_t>(wanted.kind)] = &wanted;
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{8}, std::size_t{1} << 30})
      CHECK(select(wanted.kind, 7, bytes, by, asked_of(wanted)).how == &wanted);
  }
}

TEST_CASE("short vectors take the fewest rounds, by the table's formulas") {
  for (const collective kind : all_collectives())
    for (const int ranks : {2, 3, 8, 100}) {
      const auto chosen = select(kind, ranks, 8, {});
      CHECK(chosen.in_order);
      CHECK(chosen.segments == 1);
      for (const algorithm& other : algorithms_of(kind)) {
        if (other.pattern != memory_pattern::none) continue;    // which sends no messages
        if ((other.parameters & takes::groups) != 0) continue;  // whose formulas leave out what is near
        CAPTURE(name(kind), ranks, chosen.how->name, other.name);
        CHECK(chosen.how->cost(shape_of(ranks), 8, only_rounds) <= other.cost(shape_of(ranks), 8, only_rounds));
      }
    }
}

TEST_CASE("long vectors are cut into segments, of shares where ranks share them, and not run in order") {
  selection_parameters by;
  by.segment = 1 << 20;
  by.wanted[static_cast<std::size_t>(collective::broadcast)] = find_algorithm(collective::broadcast, "chain");
  by.wanted[static_cast<std::size_t>(collective::allgather)] = find_algorithm(collective::allgather, "ring");
  CHECK(select(collective::broadcast, 8, 16 << 20, by).segments == 16);
  CHECK(select(collective::allgather, 8, 16 << 20, by).segments == 2);
  CHECK(select(collective::broadcast, 8, std::size_t{1} << 40, by).segments == 256);
  CHECK_FALSE(select(collective::allgather, 8, 16 << 20, by).in_order);
  by.wanted[static_cast<std::size_t>(collective::scan)] = find_algorithm(collective::scan, "recursive-doubling");
  CHECK(select(collective::scan, 8, 16 << 20, by).segments == 1);
}

TEST_CASE("thresholds part short vectors from long ones") {
  selection_parameters by;
  by.ring_threshold = 1000;
  by.ring_threshold_pair = 5000;
  by.bruck_limit = 10;
  const auto chosen = [&](collective kind, int ranks, std::size_t bytes) {
    return select(kind, ranks, bytes, by).how->name;
  };
  CHECK(chosen(collective::allreduce, 3, 999) == "recursive-doubling");
  CHECK(chosen(collective::allreduce, 3, 1000) == "ring");
  CHECK(chosen(collective::allreduce, 2, 4999) == "recursive-doubling");
  CHECK(chosen(collective::allreduce, 2, 5000) == "ring");
  CHECK(chosen(collective::broadcast, 2, 1 << 20) == "binomial");
  CHECK(chosen(collective::alltoall, 8, 80) == "bruck");
  CHECK(chosen(collective::alltoall, 8, 81) == "pairwise");
}

TEST_CASE("demands are met before wishes") {
  for (const algorithm& wanted : algorithms()) {
    selection_parameters by;
    by.wanted[static_cast<std::size_t>(wanted.kind)] = &wanted;
    for (const int root : {0, 2})
      for (const bool rows : {false, true})
        for (const std::size_t bytes : {std::size_t{8}, std::size_t{1} << 24}) {
          demands asked{root, true, rows, false};
          asked.by_pattern = wanted.pattern != memory_pattern::none;
          const auto chosen = select(wanted.kind, 5, bytes, by, asked);
          CHECK(meets(asked, *chosen.how));
          CHECK((chosen.how == &wanted) == meets(asked, wanted));
        }
  }
  const demands own{0, false, false, true};
  CHECK(select(collective::alltoall, 8, 8, {}, own).how->name == "pairwise");
  CHECK(select(collective::allgather, 8, 8, {}, own).how->name == "ring");
  CHECK(select(collective::gather, 8, 8, {}, own).how->name == "linear");
  CHECK(select(collective::scatter, 8, 8, {}, own).how->name == "linear");
  CHECK_THROWS_AS(select(collective::scan, 8, 8, {}, own), std::invalid_argument);
}

TEST_CASE("where costs are measured, nothing that meets the demands is predicted to be faster than what is chosen") {
  std::mt19937_64 random(test_seed());
  INFO("WEFT_TEST_SEED=" << test_seed());
  const auto drawn = [&](double most) { return std::uniform_real_distribution<double>(0, most)(random); };
  for (int i = 0; i < 2000; ++i) {
    const auto kind = static_cast<collective>(random() % collectives);
    algorithm_arguments shape = shape_of(1 + static_cast<int>(random() % 40));
    shape.root = static_cast<int>(random() % static_cast<std::uint64_t>(shape.ranks));
    machine_costs machine;
    machine[road::node] = {drawn(1e-5), drawn(1e-6), drawn(1e-5), drawn(1e-9), drawn(2e-9), drawn(1e-5)};
    machine.eager = 8192;
    const path_costs each = path_of(machine, road::fabric, road::memory, drawn(1e-9));
    const auto bytes = static_cast<std::size_t>(random() % (std::uint64_t{1} << (random() % 28)));
    const demands asked{shape.root, random() % 2 == 0, false, false};
    CAPTURE(name(kind), shape.ranks, bytes, asked.rank_order);
    const selected chosen = select_fastest(kind, shape, bytes, each, {}, asked);
    REQUIRE(meets(asked, *chosen.how));
    shape.by.segments = chosen.segments;
    if (chosen.degree != 0) shape.degree = chosen.degree;
    const double seconds = chosen.how->cost(shape, static_cast<double>(bytes), each);
    for (const prediction& other : predict_all(kind, shape, bytes, each, selection_parameters{}.segment))
      if (meets(asked, *other.how)) CHECK(seconds <= other.seconds);
  }
}

TEST_CASE("the longer a latency is beside what a message keeps a rank busy, the greater is the degree chosen") {
  const algorithm& how = *find_algorithm(collective::reduce_scatter, "recursive-halving");
  machine_costs machine;
  int last = 0;
  for (const double latency : {1e-7, 2e-6, 1e-5, 1e-4}) {
    machine[road::fabric] = {latency, 2e-7, 2e-7, 1e-10, 1e-10, 0};
    const prediction best = predict(how, shape_of(256), 2048, path_of(machine, road::fabric, road::fabric, 0), 1 << 19);
    CAPTURE(latency, last);
    CHECK(best.degree >= last);
    last = best.degree;
  }
  CHECK(last == 16);
  CHECK(predict(how, shape_of(9), 72, path_of(machine, road::fabric, road::fabric, 0), 1 << 19).degree == 9);
  const algorithm& other = *find_algorithm(collective::reduce_scatter, "ring");
  CHECK(predict(other, shape_of(64), 512, path_of(machine, road::fabric, road::fabric, 0), 1 << 19).degree == 0);
}

namespace {

/// A call among ranks of a machine with any costs.
struct drawn_call {
  collective kind;
  algorithm_arguments shape;
  machine_costs machine;
  path_costs each;
  std::size_t bytes;
  demands asked;
};

drawn_call draw_call(std::mt19937_64& random) {
  const auto drawn = [&](double most) { return std::uniform_real_distribution<double>(0, most)(random); };
  drawn_call call;
  call.kind = static_cast<collective>(random() % collectives);
  call.shape = shape_of(1 + static_cast<int>(random() % (random() % 8 == 0 ? 3 : 40)));
  call.shape.root = static_cast<int>(random() % static_cast<std::uint64_t>(call.shape.ranks));
  for (const road each : {road::memory, road::node, road::fabric})
    call.machine[each] = {drawn(1e-5), drawn(1e-6), drawn(1e-5), drawn(1e-9), drawn(2e-9), drawn(1e-5)};
  call.machine.eager = 8192;
  call.each = path_of(call.machine, road::fabric, road::memory, drawn(1e-9));
  call.bytes = static_cast<std::size_t>(random() % (std::uint64_t{1} << (random() % 28)));
  call.asked = {call.shape.root, random() % 2 == 0, false, false};
  return call;
}

/// A tree for when ranks come, which is taken where it is named alone.
bool goes_by_arrival(const algorithm& how) { return (how.parameters & takes::arrivals_of_calls) != 0; }

/// Of each algorithm that may be chosen, in each of its degrees, what it takes in the best number of segments.
std::vector<prediction> best_of_each_degree(const drawn_call& call) {
  std::vector<prediction> all;
  for (const algorithm& how : algorithms_of(call.kind)) {
    if (!meets(call.asked, how) || goes_by_arrival(how)) continue;
    const auto variants = predict_each(how, call.shape, call.bytes, call.each, selection_parameters{}.segment);
    for (int degree = 0; degree <= 40; ++degree) {
      prediction best;
      for (const prediction& each : variants)
        if (each.degree == degree && (best.how == nullptr || each.seconds < best.seconds)) best = each;
      if (best.how != nullptr) all.push_back(best);
    }
  }
  return all;
}

/// The fastest first, and of several that are as fast one, up to so many times as long as that.
void keep_near(std::vector<prediction>& all, double factor, std::size_t most) {
  std::ranges::stable_sort(all, {}, &prediction::seconds);
  std::vector<prediction> kept;
  for (const prediction& each : all) {
    if (kept.size() == most || each.seconds > factor * all.front().seconds) break;
    if (kept.empty() || each.seconds != kept.back().seconds) kept.push_back(each);
  }
  all = kept;
}

bool is_variant(const selected& one, const prediction& other) {
  return one.how == other.how && one.segments == other.segments && one.degree == other.degree;
}

}  // namespace

TEST_CASE("near the choice are those that are predicted to take not much longer, that itself first") {
  std::mt19937_64 random(test_seed());
  INFO("WEFT_TEST_SEED=" << test_seed());
  int of_other_degree = 0, of_other_segments = 0;
  for (int i = 0; i < 2000; ++i) {
    const drawn_call call = draw_call(random);
    const auto& [kind, shape, machine, each, bytes, asked] = call;
    const double factor = 1 + std::uniform_real_distribution<double>(0, 1)(random);
    const std::size_t most = 1 + random() % 4;
    CAPTURE(name(kind), shape.ranks, bytes, asked.rank_order, factor, most);
    const selected chosen = select_fastest(kind, shape, bytes, each, {}, asked);
    const auto near = select_near(kind, shape, bytes, each, {}, asked, nullptr, factor, most);
    auto expected = best_of_each_degree(call);
    keep_near(expected, factor, most);
    REQUIRE(near.size() >= expected.size());
    REQUIRE(near.size() <= most);
    CHECK(is_variant(chosen, expected.front()));
    for (std::size_t k = 0; k < expected.size(); ++k) {
      CHECK(is_variant(near[k], expected[k]));
      CHECK(near[k].in_order == chosen.in_order);
      of_other_degree += near[k].degree > 2;
    }
    for (std::size_t k = expected.size(); k < near.size(); ++k) {
      const std::uint32_t least = std::min(near[k].segments, chosen.segments);
      CHECK((near[k].how == chosen.how && near[k].degree == chosen.degree));
      CHECK(std::max(near[k].segments, chosen.segments) == 4 * least);
      CHECK_FALSE(near[k].in_order);
      ++of_other_segments;
    }
  }
  CHECK(of_other_degree > 0);
  CHECK(of_other_segments > 0);
}

TEST_CASE("where nothing is sent one algorithm is near the choice") {
  machine_costs nothing, machine;
  for (const road each : {road::memory, road::node, road::fabric})
    machine[each] = {1e-5, 1e-6, 1e-6, 1e-10, 1e-10, 1e-6};
  for (const machine_costs& costs : {nothing, machine})
    for (const road by : {road::memory, road::node, road::fabric})
      for (const collective kind : all_collectives())
        for (const std::size_t bytes : {0, 8, 20'000, 1 << 24}) {
          CAPTURE(name(kind), name(by), bytes);
          CHECK(select_near(kind, shape_of(1), bytes, path_of(costs, by, by, 1e-10), {}, {}, nullptr, 1.5, 3).size() ==
                1);
        }
}

TEST_CASE("near the choice where a closer look is taken are those that are near by that") {
  std::mt19937_64 random(test_seed());
  INFO("WEFT_TEST_SEED=" << test_seed());
  for (int i = 0; i < 500; ++i) {
    const drawn_call call = draw_call(random);
    const auto& [kind, shape, machine, each, bytes, asked] = call;
    const auto times = [salt = random()](const prediction& of) {
      const std::uint64_t drawn =
          (salt ^ std::hash<std::string_view>()(of.how->name)) * (2 * static_cast<std::uint64_t>(of.degree) + 3);
      return 0.6 + static_cast<double>(drawn % 1000) / 500;
    };
    const closer_look closer = [&](prediction by_formula, double worth) {
      by_formula.seconds *= times(by_formula);
      if (by_formula.seconds >= worth) by_formula.seconds = std::numeric_limits<double>::infinity();
      return by_formula;
    };
    const double factor = 1 + std::uniform_real_distribution<double>(0, 1)(random);
    CAPTURE(name(kind), shape.ranks, bytes, asked.rank_order, factor);
    auto expected = best_of_each_degree(call);
    for (prediction& one : expected) one.seconds *= times(one);
    keep_near(expected, factor, 3);
    const auto near = select_near(kind, shape, bytes, each, {}, asked, closer, factor, 3);
    REQUIRE(near.size() >= expected.size());
    for (std::size_t k = 0; k < expected.size(); ++k) CHECK(is_variant(near[k], expected[k]));
  }
}

TEST_CASE("predictions are sorted, hold every algorithm, and grow with what is measured") {
  machine_costs cheap, dear;
  cheap[road::node] = {1e-6, 1e-7, 2e-7, 1e-10, 1e-10, 1e-6};
  dear[road::node] = {2e-6, 2e-7, 4e-7, 2e-10, 2e-10, 2e-6};
  for (const collective kind : all_collectives())
    for (const int ranks : {1, 2, 7, 16})
      for (const std::size_t bytes : {std::size_t{8}, std::size_t{1} << 20}) {
        const auto all =
            predict_all(kind, shape_of(ranks), bytes, path_of(cheap, road::node, road::node, 1e-11), 1 << 19);
        CHECK(all.size() == algorithms_of(kind).size());
        CHECK(std::is_sorted(all.begin(), all.end(), [](auto& a, auto& b) { return a.seconds < b.seconds; }));
        for (const prediction& one : all) {
          const auto dearer =
              predict(*one.how, shape_of(ranks), bytes, path_of(dear, road::node, road::node, 1e-11), 1 << 19);
          CHECK(dearer.seconds >= one.seconds);
          CHECK(one.segments <= most_segments);
        }
      }
}

TEST_CASE("who reads another's memory calls the kernel for it, ranks of a process and who copies do not") {
  constexpr std::size_t bytes = 1 << 10;
  board_costs boards;
  boards.round = 1;
  const auto calls_of = [&](const algorithm& how, int ranks) {
    boards.call = 0;
    const auto seconds = [&] {
      return predict(how, shape_of(ranks), bytes, path_of(boards, how.kind, how.pattern, bytes, 0), 1 << 19).seconds;
    };
    const double without = seconds();
    boards.call = 1000;
    return (seconds() - without) / 1000;
  };
  for (const int ranks : {1, 2, 3, 8})
    for (const algorithm& how : algorithms()) {
      if (how.pattern == memory_pattern::none || how.pattern == memory_pattern::staged) continue;
      const double others = ranks - 1;
      double expected = 0;
      if (how.pattern == memory_pattern::single_copy) {
        const bool all_of_all = use_of(how.kind) == memory_use::exchanges || how.kind == collective::gather;
        expected = how.kind == collective::broadcast || how.kind == collective::scatter ? std::min(others, 1.0)
                   : all_of_all                                                         ? others
                                                                                        : 2 * others;
      }
      INFO(name(how.kind) << " " << how.name << ", " << ranks << " ranks");
      CHECK(calls_of(how, ranks) == expected);
    }
}

TEST_CASE("a broadcast across nodes begins on the root's where it is not the first rank there") {
  path_costs each;
  each.near = only_rounds;
  algorithm_arguments shape = shape_of(4);
  shape.nodes = {{0, 3}, {2, 1}};
  const auto rounds_on_nodes = [&](int root) {
    shape.root = root;
    return find_algorithm(collective::broadcast, "staged")->cost(shape, 4096, each);
  };
  for (const int first : {0, 2}) CHECK(rounds_on_nodes(first) == 1);
  for (const int other : {1, 3}) CHECK(rounds_on_nodes(other) == 2);
}

TEST_CASE("algorithms by messages call the kernel twice for what they read of another process") {
  machine_costs machine;
  machine[road::memory] = machine[road::node] = {1, 0, 0, 0, 0, 0};
  const auto calls_of = [&](std::string_view algorithm, collective kind, road which) {
    const auto seconds = [&](double call) {
      machine.boards.emplace().call = call;
      return predict(*find_algorithm(kind, algorithm), shape_of(4), 8, path_of(machine, which, which, 0), 1 << 19)
          .seconds;
    };
    return seconds(1) - seconds(0);
  };
  CHECK(calls_of("reading", collective::broadcast, road::node) == 2);
  CHECK(calls_of("reading", collective::allgather, road::node) == 2 * 3);
  CHECK(calls_of("multi-leader", collective::allreduce, road::node) == 2 * (3 + 3));
  CHECK(calls_of("multi-leader", collective::reduce, road::node) == 2 * (3 + 3));
  CHECK(calls_of("multi-leader", collective::allreduce, road::memory) == 0);
  CHECK(calls_of("ring", collective::allreduce, road::node) == 0);
}

TEST_CASE("what is read of others, and what of a message leaves the caches, costs what the node's memory does") {
  constexpr std::size_t bytes = 1 << 20;
  machine_costs machine;
  machine[road::node] = {1e-6, 0, 0, 1e-10, 1e-10, 0};
  CHECK(path_of(machine, road::node, road::node, 0, collective::allgather, 8).read == 1e-10);
  auto& boards = machine.boards.emplace();
  boards[memory_use::combines].copy = {1e-10, 1e-10, 2e-10, 4e-10, 5e-10};
  boards[memory_use::exchanges].read.fill(7e-11);
  const auto each = path_of(machine, road::node, road::node, 0, collective::allgather, 8);
  for (const link_costs& one : {static_cast<const link_costs&>(each), each.near}) {
    CHECK(one.read == 7e-11);
    CHECK(one.far == weft_test::Approx(3e-10));
  }
  const auto binomial = [](const path_costs& by, double length) {
    return find_algorithm(collective::broadcast, "binomial")->cost(shape_of(2), length, by);
  };
  const path_costs near = path_of(machine, road::node, road::node, 0);
  CHECK(binomial(each, link_costs::cached) == binomial(near, link_costs::cached));
  CHECK(binomial(each, bytes) - binomial(near, bytes) == weft_test::Approx(3e-10 * (bytes - link_costs::cached)));
}

TEST_CASE("a pattern is the cheapest of those by which a collective can go") {
  std::mt19937_64 random(test_seed());
  INFO("WEFT_TEST_SEED=" << test_seed());
  const auto drawn = [&](double most) { return std::uniform_real_distribution<double>(0, most)(random); };
  const auto maybe = [&] { return random() % 2 == 0; };
  for (int i = 0; i < 2000; ++i) {
    const auto kind = static_cast<collective>(random() % collectives);
    algorithm_arguments shape = shape_of(2 + static_cast<int>(random() % 10));
    if (maybe()) shape.groups = {{0}, {1}};
    board_costs costs;
    costs.round = drawn(1e-6);
    costs.call = drawn(1e-6);
    for (memory_costs& use : costs.by_use)
      for (auto* const each : {&use.copy, &use.read})
        for (double& beta : *each) beta = drawn(1e-10);
    const shared_node on{shape, costs, drawn(1e-10), maybe(), maybe(), maybe(), maybe(), maybe()};
    const auto given = static_cast<std::size_t>(random() % (std::uint64_t{1} << (random() % 28)));
    const algorithm& chosen = row_of(kind, pattern_of(kind, given, on));
    CAPTURE(name(kind), shape.ranks, given, chosen.name);
    REQUIRE(is_candidate(chosen, given, on));
    for (const algorithm& other : algorithms_of(kind))
      if (is_candidate(other, given, on))
        CHECK(predict(chosen, given, on).seconds <= predict(other, given, on).seconds);
  }
}

TEST_CASE("where nothing is measured, others' memory is read if slots are short, and used in place if it is shared") {
  constexpr std::size_t kib = 1 << 10;
  const auto taken = [](collective kind, int processes, std::size_t given, bool long_slots, bool mapped = false) {
    const algorithm_arguments shape = shape_of(processes);
    return pattern_of(kind, given, {shape, assumed_boards(long_slots, false), 3e-11, true, mapped, false, long_slots, false});
  };
  for (const int processes : {2, 3, 8})
    for (const collective kind : all_collectives()) {
      CAPTURE(name(kind), processes);
      for (std::size_t given = 8; given <= 64 << 20; given *= 2)
        CHECK((kind == collective::scatter || taken(kind, processes, given, true) != memory_pattern::single_copy));
      const bool read = kind == collective::allreduce || kind == collective::allgather || kind == collective::alltoall;
      CHECK((taken(kind, processes, 1024 * kib, false) == memory_pattern::single_copy) >= read);
      CHECK(taken(kind, processes, 8 * kib, false) != memory_pattern::single_copy);
      const bool used = kind == collective::allreduce || kind == collective::broadcast || kind == collective::reduce;
      CHECK((taken(kind, processes, 64 * kib, true, true) == memory_pattern::in_place) == used);
      CHECK(taken(kind, processes, 256, true, true) != memory_pattern::in_place);
    }
  CHECK(taken(collective::broadcast, 2, 64 << 20, false) == memory_pattern::at_once);
  CHECK(taken(collective::allreduce, 2, 1024 * kib, true) == memory_pattern::at_once);
  CHECK(taken(collective::allreduce, 4, 1024 * kib, true) == memory_pattern::by_shares);
}

TEST_CASE("where ranks share CPUs, blocks of a scatter are read from the root's memory only if they are long") {
  constexpr std::size_t kib = 1 << 10;
  const auto taken = [](std::size_t block, bool crowded) {
    const algorithm_arguments shape = shape_of(4);
    return pattern_of(collective::scatter, 4 * block,
                      {shape, assumed_boards(true, crowded), 3e-11, true, false, crowded, true, false});
  };
  CHECK(taken(32 * kib, false) == memory_pattern::single_copy);
  CHECK(taken(32 * kib, true) == memory_pattern::at_once);
  CHECK(taken(1024 * kib, true) == memory_pattern::single_copy);
}

TEST_CASE("a cost comes back from the seconds that its formula gives") {
  const link_costs known(2e-7, 3e-10, 5e-11);
  for (const algorithm& how : algorithms()) {
    if (how.pattern == memory_pattern::none || how.pattern == memory_pattern::staged) continue;
    for (const auto unknown : {&link_costs::alpha, &link_costs::beta, &link_costs::call}) {
      const algorithm_arguments shape = shape_of(4);
      link_costs all = known;
      all.*unknown = 7e-8;
      const double seconds = how.cost(shape, 4096, all);
      link_costs other = all;
      other.*unknown = 1;
      const bool has_part = how.cost(shape, 4096, other) != seconds;
      INFO(name(how.kind) << " " << how.name);
      CHECK(cost_from(how, shape, 4096, seconds, known, unknown) ==
            weft_test::Approx(has_part ? 7e-8 : 0).margin(1e-15));
      CHECK(cost_from(how, shape, 4096, 0, known, unknown) == 0);
    }
  }
}

TEST_CASE("what is wanted is taken, however slow it is predicted to be") {
  const path_costs each(1e-6, 1e-10, 1e-11);
  for (const algorithm& wanted : algorithms()) {
    selection_parameters by;
    by.wanted[static_cast<std::size_t>(wanted.kind)] = &wanted;
    CHECK(select_fastest(wanted.kind, shape_of(7), 1 << 20, each, by, asked_of(wanted)).how == &wanted);
  }
  const demands own{0, false, false, true};
  CHECK(select_fastest(collective::alltoall, shape_of(8), 8, each, {}, own).how->name == "pairwise");
  CHECK(select_fastest(collective::allgather, shape_of(8), 8, each, {}, own).how->name == "ring");
  CHECK_THROWS_AS(select_fastest(collective::scan, shape_of(8), 8, each, {}, own), std::invalid_argument);
}

TEST_CASE("a road that was not measured costs what the next longer one does, or the longest") {
  machine_costs machine;
  machine[road::node] = {1, 2, 3, 4, 5, 6};
  for (const road which : {road::memory, road::node, road::fabric}) {
    const path_costs each = path_of(machine, which, which, 7);
    CHECK(each.alpha == 5);
    CHECK(each.gap == 3);
    CHECK(each.beta == 4);
    CHECK(each.near.exchange == 5);
    CHECK(each.handshake == 6);
    CHECK(each.gamma == 7);
  }
}

TEST_CASE("where combining costs as much as a transfer, a reduction takes the greedy tree for what was measured") {
  const link_costs each{3e-6, 0, 1e-6 / 4096};
  const selected found = select_fastest(collective::reduce, shape_of(100), 4096, each, {});
  CHECK(found.how->name == "greedy");
  CHECK(found.operand == operand_costs{1000, 333, 0, 3e-6 / 1000});
  CHECK(operand_costs_of(4096, {0, 1e-9, 4e-9}) == operand_costs{250, 1000, 0, 4096 * 4e-9 / 1000});
  CHECK(operand_costs_of(0, only_bytes) == operand_costs{1, 1});
}

TEST_CASE("ranks that share processors take what these have to do") {
  link_costs each(10, 1, 0);
  each.overhead = 3;
  each.exchange = 2;  // so that a byte keeps a processor for 1 at each end
  const algorithm& binomial = *find_algorithm(collective::broadcast, "binomial");
  const auto seconds = [&](const algorithm& how, int ranks, double sharing, std::size_t bytes) {
    path_costs shared(each);
    shared.sharing = sharing;
    return predict(how, shape_of(ranks), bytes, shared, std::size_t{1} << 30).seconds;
  };
  constexpr double work = 3 * 2 * (3 + 8);  // of three messages, with both ends
  const double alone = seconds(binomial, 4, 1, 8);
  CHECK(seconds(binomial, 4, 2, 8) == work / 2 + alone / 2);
  CHECK(seconds(binomial, 4, 4, 8) == work);
  CHECK(seconds(binomial, 4, 5, 8) == work);  // the others may be idle, but one processor is there

  // Two segments are no pipeline there, but make 1.5 n bytes of each rank's 2 n; four make no fewer, in more messages.
  path_costs one_processor(each);
  one_processor.sharing = 4;
  const algorithm& doubling = *find_algorithm(collective::allreduce, "recursive-doubling");
  CHECK(predict(doubling, shape_of(4), 1'000'000, one_processor, std::size_t{1} << 30).segments == 2);

  // Every other rank takes a broadcast's bytes in, and somebody sends them, whoever does.
  for (const algorithm& how : algorithms_of(collective::broadcast))
    if (how.pattern == memory_pattern::none && (how.parameters & takes::nodes) == 0)
      for (const int ranks : {1, 2, 3, 5, 8, 13}) {
        CAPTURE(how.name, ranks);
        CHECK(seconds(how, ranks, ranks, 1000) >= (ranks - 1) * 2.0 * 1000);
      }
}

TEST_CASE("trees for when ranks come are taken where they are named alone") {
  const auto seed = test_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const auto between = [&](double least, double most) { return std::uniform_real_distribution(least, most)(random); };
  for (int trial = 0; trial < 200; ++trial) {
    path_costs each(between(0, 1e-5), between(0, 1e-9), between(0, 1e-9));
    each.overhead = each.near.overhead = between(0, 1e-6);
    each.sharing = between(1, 4);
    const algorithm_arguments shape = shape_of(2 + static_cast<int>(random() % 20));
    for (const collective kind : {collective::reduce, collective::allreduce}) {
      selection_parameters by;
      CHECK_FALSE(goes_by_arrival(*select_fastest(kind, shape, 1 << random() % 22, each, by, {}).how));
      for (const selected& near : select_near(kind, shape, 1 << random() % 22, each, by, {}, nullptr, 1.5, 3))
        CHECK_FALSE(goes_by_arrival(*near.how));
      by.wanted[static_cast<std::size_t>(kind)] = find_algorithm(kind, "arrival");
      CHECK(goes_by_arrival(*select_fastest(kind, shape, 1024, each, by, {}).how));
    }
  }
}
