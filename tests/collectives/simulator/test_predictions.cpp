// SPDX-License-Identifier: Apache-2.0
// What the formulas predict beside what the simulator takes, step by step and by LogGP.
#include <algorithm>
#include <array>
#include <string_view>
#include <weft/schedules/machine_costs.hpp>
#include <weft/schedules/prediction.hpp>

#include "catch.hpp"
#include "jobs.hpp"

using namespace weft::schedules;

namespace {

constexpr road_costs network{1500, 300, 400, 0.08, 0.08, 0};
constexpr road_costs near_by{200, 100, 150, 0.04, 0.04, 0};  // in groups
constexpr double combine = 0.05;
constexpr std::size_t longest_segment = 1 << 30;  // so that predictions alone say how many there are

path_costs measured(road within = road::fabric) {
  machine_costs machine;
  machine[road::node] = near_by;
  machine[road::fabric] = network;
  machine.eager = 1e300;
  return path_of(machine, road::fabric, within, combine);
}

weft::simulator::machine_model machine_of(const road_costs& costs, double compute_per_byte) {
  weft::simulator::machine_model model;
  model.latency = costs.latency;
  model.overhead = costs.overhead;
  model.gap = costs.gap;
  model.gap_per_byte = costs.gap_per_byte;
  model.compute_per_byte = compute_per_byte;
  return model;
}

double simulated(const algorithm& how, algorithm_arguments shape, std::size_t bytes) {
  const auto model = machine_of(network, combines(how.kind) ? combine : 0);
  const operand_costs each = operand_costs_of(static_cast<double>(bytes) / shape.by.segments, measured());
  shape.transfer = each.transfer;
  shape.compute = each.compute;
  shape.latency = each.latency;
  const std::size_t counted = how.kind == collective::alltoall ? bytes * static_cast<std::size_t>(shape.ranks) : bytes;
  const auto all = weft::simulator::workload_of(shape.ranks, counted, 1, [&](int rank, sink& to) {
    shape.rank = rank;
    how.emit(shape, to);
  });
  return weft_test::completion(all, model);
}

/// Machines that are near each other below a switch, all switches below one. Messages share no link.
double simulated_in_groups(const algorithm& how, algorithm_arguments shape, std::size_t bytes) {
  const auto model = machine_of(near_by, 0);
  const int count = static_cast<int>(shape.groups.size());
  std::vector<int> parent{-1}, node_of(static_cast<std::size_t>(shape.ranks));
  parent.resize(shape.groups.size() + 1, 0);
  for (int group = 0; group < count; ++group)
    for (const int rank : shape.groups[static_cast<std::size_t>(group)]) {
      node_of[static_cast<std::size_t>(rank)] = static_cast<int>(parent.size());
      parent.push_back(group + 1);
    }
  auto links = weft_test::with_capacity(weft::simulator::tree_of(parent), 1e9, node_of);
  for (weft::simulator::link& one : links.links) {
    if (std::min(one.from, one.to) != 0) continue;
    one.delay = (network.latency - near_by.latency) / 2;
    one.overhead = network.overhead;
    one.gap = network.gap;
    one.gap_per_byte = network.gap_per_byte;
  }
  const auto all = weft::simulator::workload_of(shape.ranks, bytes, 1, [&](int rank, sink& to) {
    shape.rank = rank;
    how.emit(shape, to);
  });
  return weft_test::completion(all, model, &links);
}

/// The simulator's machine has messages, where patterns of shared memory set flags.
bool sends_messages(const algorithm& how) { return how.pattern == memory_pattern::none; }

/// Its formula goes from rank to rank as the simulator does; others count rounds, of which several are on their way at
/// a time where the ranks are no power of two.
bool goes_by_ranks(const algorithm& how) {
  static constexpr std::array<std::string_view, 13> names{
      "greedy", "uneven", "binomial",     "fnomial",       "chain",    "ring", "linear",
      "mst",    "tree",   "smp-binomial", "dissemination", "pairwise", "bruck"};
  return std::ranges::find(names, how.name) != names.end();
}

template <class Each>
void for_each_job(Each&& each) {
  for (const int ranks : {2, 3, 4, 5, 8, 13, 16, 32})
    for (const std::size_t bytes : {8, 4 << 10, 64 << 10, 1 << 20}) {
      algorithm_arguments shape;
      shape.ranks = ranks;
      shape.splits = 1;
      each(shape, bytes);
    }
}

}  // namespace

TEST_CASE("predictions are near what is simulated, for one segment and for the best number") {
  std::size_t cases = 0, near = 0;
  for (const algorithm& how : algorithms()) {
    // Of trees for when ranks come, which is not known here, formulas say the least.
    if (!sends_messages(how) || (how.parameters & takes::arrivals_of_calls) != 0) continue;
    for_each_job([&](algorithm_arguments shape, std::size_t bytes) {
      for (const std::uint32_t segments :
           {std::uint32_t{1}, predict(how, shape, bytes, measured(), longest_segment).segments}) {
        shape.by.segments = segments;
        const double ratio = how.cost(shape, static_cast<double>(bytes), measured()) / simulated(how, shape, bytes);
        CAPTURE(name(how.kind), how.name, shape.ranks, bytes, segments);
        if (segments == 1 && goes_by_ranks(how)) {
          CHECK(ratio > 0.99);
          CHECK(ratio < 1.2);
        } else {
          const bool reads = (how.parameters & takes::nodes) != 0;
          CHECK(ratio > 0.7);
          CHECK(ratio < (reads ? 2 : 1.4));
        }
        ++cases;
        near += ratio > 1 / 1.1 && ratio < 1.1 ? 1 : 0;
      }
    });
  }
  CAPTURE(cases, near);
  CHECK(100 * near >= 89 * cases);
}

TEST_CASE("the formula of halvings and doublings is a tenth off at most, for any number of ranks") {
  std::size_t cases = 0, near = 0;
  for (const auto& [kind, name] : {std::pair{collective::allreduce, "butterfly"},
                                   {collective::reduce_scatter, "recursive-halving"},
                                   {collective::allgather, "bruck"}})
    for (int ranks = 2; ranks <= 130; ranks += ranks < 20 ? 1 : 11)
      for (const std::size_t bytes : {8, 64 << 10, 8 << 20})
        for (const std::uint32_t segments : {1, 2, 3, 4, 8, 16, 64}) {
          algorithm_arguments shape;
          shape.ranks = ranks;
          shape.by.segments = segments;
          const algorithm& how = *find_algorithm(kind, name);
          const double ratio = how.cost(shape, static_cast<double>(bytes), measured()) / simulated(how, shape, bytes);
          CAPTURE(weft::schedules::name(kind), name, ranks, bytes, segments, ratio);
          const bool is_near = ratio > 1 / 1.1 && ratio < 1.1;
          if (segments == 1) CHECK(is_near);
          CHECK((ratio > 0.85 && ratio < 1.2));
          ++cases;
          near += is_near ? 1 : 0;
        }
  CAPTURE(cases, near);
  CHECK(100 * near >= 98 * cases);
}

TEST_CASE("and of rows that are cut into more parts, for vectors that are not long") {
  const algorithm& how = *find_algorithm(collective::reduce_scatter, "recursive-halving");
  for (int ranks = 3; ranks <= 64; ranks += ranks < 20 ? 1 : 11)
    for (const std::size_t bytes : {8, 4 << 10, 64 << 10})
      for (const int degree : {3, 4, 8, 16}) {
        if (degree > ranks) continue;
        algorithm_arguments shape;
        shape.ranks = ranks;
        shape.degree = degree;
        const double ratio = how.cost(shape, static_cast<double>(bytes), measured()) / simulated(how, shape, bytes);
        CAPTURE(ranks, bytes, degree, ratio);
        CHECK((ratio > 0.75 && ratio < 1.2));
      }
}

TEST_CASE("the formula of a locality-aware Bruck is a tenth off among groups that are alike, but for few") {
  std::size_t cases = 0, near = 0;
  const algorithm& how = *find_algorithm(collective::allgather, "local-bruck");
  for (const int size : {2, 3, 4, 8, 16})
    for (const int count : {2, 3, 4, 5, 8, 9, 16, 27, 32})
      for (const std::size_t chunk : {8, 1 << 10, 16 << 10, 64 << 10}) {
        const int ranks = size * count;
        if (ranks > 256) continue;
        algorithm_arguments shape;
        shape.ranks = ranks;
        shape.groups.resize(static_cast<std::size_t>(count));
        for (int rank = 0; rank < ranks; ++rank) shape.groups[static_cast<std::size_t>(rank / size)].push_back(rank);
        const std::size_t bytes = chunk * static_cast<std::size_t>(ranks);
        const double predicted = how.cost(shape, static_cast<double>(bytes), measured(road::node));
        const double ratio = predicted / simulated_in_groups(how, shape, bytes);
        CAPTURE(size, count, chunk, ratio);
        CHECK((ratio > 0.85 && ratio < 1.2));
        ++cases;
        near += ratio > 1 / 1.1 && ratio < 1.1 ? 1 : 0;
      }
  CAPTURE(cases, near);
  CHECK(100 * near >= 97 * cases);
}

TEST_CASE("what is predicted to be the fastest is near what is the fastest when it is simulated") {
  for (std::size_t i = 0; i < collectives; ++i)
    for_each_job([&](algorithm_arguments shape, std::size_t bytes) {
      const auto kind = static_cast<collective>(i);
      auto all = predict_all(kind, shape, bytes, measured(), longest_segment);
      std::erase_if(all, [](const prediction& one) { return !sends_messages(*one.how); });
      std::vector<double> seconds;
      for (const prediction& one : all) {
        shape.by.segments = one.segments;
        shape.degree = one.degree == 0 ? 2 : one.degree;
        seconds.push_back(simulated(*one.how, shape, bytes));
      }
      CAPTURE(name(kind), shape.ranks, bytes, all[0].how->name);
      CHECK(seconds[0] < 1.3 * *std::min_element(seconds.begin(), seconds.end()));
    });
}
