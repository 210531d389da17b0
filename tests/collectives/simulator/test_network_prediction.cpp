// SPDX-License-Identifier: Apache-2.0
// What is predicted for messages that share the links of a network, and what is chosen by that, beside simulations of
// all algorithms.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <weft/schedules/machine_costs.hpp>
#include <weft/schedules/selection.hpp>
#include <weft/simulator/network_prediction.hpp>
#include <weft/simulator/traffic.hpp>

#include "catch.hpp"
#include "jobs.hpp"
#include "sanitized.hpp"
#include "seed.hpp"

using namespace weft::schedules;
namespace simulator = weft::simulator;
using simulator::network_prediction;

namespace {

constexpr std::size_t longest_segment = 1 << 30;  // so that predictions alone say how many there are

/// Ranks on a network, and what messages cost there.
struct drawn_job {
  simulator::priced_network on;
  algorithm_arguments shape;
  path_costs each;
};

/// As a measured road of that cost has it.
path_costs costs_of(const simulator::machine_model& model) {
  machine_costs machine;
  machine[road::fabric] = {model.latency, model.overhead, model.gap, model.gap_per_byte, model.gap_per_byte, 0};
  machine.eager = 1e300;
  return path_of(machine, road::fabric, road::fabric, model.compute_per_byte);
}

/// A switch below another, with its machines.
void add_leaf(std::vector<int>& parent, int machines, int above) {
  parent.push_back(above);
  const int leaf = static_cast<int>(parent.size()) - 1;
  for (int i = 0; i < machines; ++i) parent.push_back(leaf);
}

/// The ranks on the machines at `node_of`, by the places of these in the tree; rings and groups as these lie.
void place(drawn_job& job, const std::vector<int>& parent, const simulator::machine_model& model,
           const std::vector<int>& node_of) {
  job.on.links = weft_test::with_capacity(simulator::tree_of(parent), 1 / model.gap_per_byte, node_of);
  job.on.model = model;
  job.each = costs_of(model);
  job.shape.ranks = static_cast<int>(node_of.size());
  job.shape.order.resize(node_of.size());
  std::iota(job.shape.order.begin(), job.shape.order.end(), 0);
  std::ranges::stable_sort(job.shape.order, {}, [&](int rank) { return node_of[static_cast<std::size_t>(rank)]; });
  std::vector<std::vector<int>> below(parent.size());
  for (int rank = 0; rank < job.shape.ranks; ++rank) {
    const int machine = node_of[static_cast<std::size_t>(rank)];
    below[static_cast<std::size_t>(parent[static_cast<std::size_t>(machine)])].push_back(rank);
  }
  for (auto& ranks : below)
    if (!ranks.empty()) job.shape.groups.push_back(std::move(ranks));
}

simulator::machine_model usual_model() {
  simulator::machine_model model;
  model.latency = 1.5e-6;
  model.overhead = 3e-7;
  model.gap = 4e-7;
  model.gap_per_byte = 8e-11;
  model.compute_per_byte = 5e-11;
  return model;
}

/// Switches of so many machines each, a rank on each, in order.
drawn_job switches_of(int switches, int each) {
  drawn_job job;
  std::vector<int> parent{-1};
  for (int s = 0; s < switches; ++s) add_leaf(parent, each, 0);
  std::vector<int> machines;
  for (int node = 1; node < static_cast<int>(parent.size()); ++node)
    if (parent[static_cast<std::size_t>(node)] != 0) machines.push_back(node);
  place(job, parent, usual_model(), machines);
  return job;
}

/// 2 to 5 switches, of two levels or three, with 1 to 8 machines each, 1 or 2 ranks on each of these, in order or in
/// none.
drawn_job draw(std::mt19937_64& random) {
  const auto number = [&](int least, int most) { return std::uniform_int_distribution(least, most)(random); };
  const auto between = [&](double least, double most) {
    return std::exp(std::uniform_real_distribution(std::log(least), std::log(most))(random));
  };
  drawn_job job;
  std::vector<int> parent{-1};
  const int tops = number(0, 2) == 0 ? 2 : 1, leaves = number(2, 5);
  for (int top = 0; top < tops; ++top) {
    int above = 0;
    if (tops > 1) {
      above = static_cast<int>(parent.size());
      parent.push_back(0);
    }
    for (int leaf = 0; leaf < leaves; ++leaf) add_leaf(parent, number(1, tops > 1 ? 4 : 8), above);
  }
  simulator::machine_model model = usual_model();
  model.latency = between(3e-7, 2e-5);
  model.overhead = between(5e-8, 2e-6);
  model.gap = between(1e-7, 2e-6);
  model.gap_per_byte = between(2e-11, 1e-9);
  model.compute_per_byte = between(1e-11, 3e-10);
  std::vector<bool> is_switch(parent.size());
  for (const int above : parent)
    if (above != -1) is_switch[static_cast<std::size_t>(above)] = true;
  std::vector<int> node_of;
  const int on_each = number(0, 3) == 0 ? 2 : 1;
  for (std::size_t node = 0; node < is_switch.size(); ++node)
    if (!is_switch[node]) node_of.insert(node_of.end(), static_cast<std::size_t>(on_each), static_cast<int>(node));
  if (number(0, 1) == 0) std::ranges::shuffle(node_of, random);
  place(job, parent, model, node_of);
  return job;
}

demands by_messages() {
  demands asked;
  asked.no_reading = true;
  return asked;
}

selection_parameters by_prediction() {
  selection_parameters by;
  by.segment = longest_segment;
  return by;
}

/// As a job makes it: trees for what an operand costs.
algorithm_arguments shape_in(const prediction& of, std::size_t bytes, const drawn_job& job) {
  algorithm_arguments shape = job.shape;
  shape.by.segments = of.segments;
  if (of.degree != 0) shape.degree = of.degree;
  const auto operand = operand_costs_of(static_cast<double>(bytes) / of.segments, job.each);
  shape.transfer = operand.transfer;
  shape.compute = operand.compute;
  shape.latency = operand.latency;
  return shape;
}

double simulated(const prediction& of, std::size_t bytes, const drawn_job& job) {
  const auto counts = counts_of(of.how->kind, job.shape.ranks, bytes);
  const auto all = simulator::workload_of(job.shape.ranks, counts, 1, steps_of(*of.how, shape_in(of, bytes, job)));
  return weft_test::completion(all, job.on.model, &job.on.links);
}

/// What the busiest link takes for the bytes.
double least_time(const prediction& of, std::size_t bytes, const drawn_job& job) {
  const auto counts = counts_of(of.how->kind, job.shape.ranks, bytes);
  const auto steps = steps_of(*of.how, shape_in(of, bytes, job));
  return simulator::traffic_of(job.on.links, job.shape.ranks, counts, steps).least_time(job.on.links);
}

prediction chosen(const drawn_job& job, collective kind, std::size_t bytes) {
  const simulator::formula_call call{job.shape, bytes, job.each, longest_segment};
  const selected found = select_fastest(kind, job.shape, bytes, job.each, by_prediction(), by_messages(),
                                        [&](const prediction& by_formula, double worth) {
                                          return simulator::predict(by_formula, call, job.on, worth).predicted;
                                        });
  return {found.how, found.segments, 0, found.degree};
}

}  // namespace

TEST_CASE("a ring is chosen where a butterfly crowds the links between switches") {
  const drawn_job job = switches_of(4, 8);
  for (const std::size_t bytes : {std::size_t{1} << 20, std::size_t{16} << 20}) {
    const algorithm& butterfly = *find_algorithm(collective::allreduce, "butterfly");
    const prediction alone = predict(butterfly, job.shape, bytes, job.each, longest_segment);
    CHECK(2 * alone.seconds < simulated(alone, bytes, job));
    const auto found = chosen(job, collective::allreduce, bytes);
    CHECK(found.how->name == "ring");
    CHECK(2 * simulated(found, bytes, job) < simulated(alone, bytes, job));
  }
}

TEST_CASE("a ring lays one message at a time on each link, a butterfly those of all machines of a switch") {
  const drawn_job job = switches_of(4, 8);
  const auto through_switches = [&](const char* name) {
    const algorithm& how = *find_algorithm(collective::allreduce, name);
    const auto all = simulator::traffic_of(job.on.links, 32, 32 << 10, steps_of(how, job.shape));
    CHECK(all.is_whole);
    return std::pair(all.links[0].bytes, all.links[1].bytes);
  };
  CHECK(through_switches("ring") == std::pair<std::uint64_t, std::uint64_t>(62 << 10, 62 << 10));
  // Halves, quarters, ... to the rank 16, 8, ... behind: of the nearer ones not all are at another switch.
  constexpr std::uint64_t crossing = 2 * (8 * 16 + 8 * 8 + 4 * 4 + 2 * 2 + 1 * 1) << 10;
  CHECK(through_switches("butterfly") == std::pair(crossing, crossing));
  const auto part = simulator::traffic_of(job.on.links, 32, 32 << 10,
                                          steps_of(*find_algorithm(collective::allreduce, "ring"), job.shape), 100);
  CHECK_FALSE(part.is_whole);
}

TEST_CASE("predictions on drawn networks are what is simulated, and what is chosen is near the best") {
  const auto seed = weft_test::test_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  std::vector<double> regrets;
  int predictions = 0, off = 0;
  for (int draw_number = 0; draw_number < (weft_test::slowed ? 2 : 8); ++draw_number) {
    const drawn_job job = draw(random);
    for (std::size_t i = 0; i < collectives; ++i) {
      const auto kind = static_cast<collective>(i);
      const std::size_t bytes = std::size_t{8} << std::uniform_int_distribution(0, 21)(random);
      const simulator::formula_call call{job.shape, bytes, job.each, longest_segment};
      double best = std::numeric_limits<double>::infinity();
      for (const algorithm& how : algorithms_of(kind)) {
        if (!meets(by_messages(), how)) continue;
        const prediction alone = predict(how, job.shape, bytes, job.each, longest_segment);
        const auto seen = simulator::predict(alone, call, job.on);
        const double time = simulated(seen.predicted, bytes, job);
        CAPTURE(name(kind), how.name, job.shape.ranks, bytes, seen.predicted.segments, seen.simulated > 0);
        CHECK(least_time(seen.predicted, bytes, job) <= time * (1 + 1e-9));
        const double ratio = time > 0 ? seen.predicted.seconds / time : 1;
        CHECK((ratio > 0.4 && ratio < 2.5));
        if (seen.simulated > 0) {
          ++predictions;
          if (std::abs(ratio - 1) > 0.1) ++off;
        }
        best = std::min({best, time, simulated(alone, bytes, job)});
      }
      const auto found = chosen(job, kind, bytes);
      if (best > 0) regrets.push_back(simulated(found, bytes, job) / best);
      CAPTURE(name(kind), found.how->name, job.shape.ranks, bytes, found.segments);
      CHECK((best == 0 || regrets.back() < 2));
    }
  }
  CAPTURE(predictions, off);
  CHECK(20 * off < predictions);
  CHECK(std::accumulate(regrets.begin(), regrets.end(), 0.0) < 1.1 * static_cast<double>(regrets.size()));
}

TEST_CASE("costs that a simulation does not have come on top of it") {
  drawn_job job = switches_of(2, 4);
  const algorithm& how = *find_algorithm(collective::scan, "recursive-doubling");
  const auto seconds = [&] {
    const auto alone = predict(how, job.shape, 1 << 16, job.each, longest_segment);
    return simulator::predict(alone, {job.shape, 1 << 16, job.each, longest_segment}, job.on).predicted.seconds;
  };
  const double without = seconds();
  CHECK(without == simulated({&how}, 1 << 16, job));
  job.each.eager = 1024;
  job.each.handshake = 1e-3;
  CHECK(seconds() == Approx(without + 3e-3));
}

TEST_CASE("of what takes longer than it is worth no more is said") {
  const drawn_job job = switches_of(4, 8);
  const auto alone =
      predict(*find_algorithm(collective::allreduce, "butterfly"), job.shape, 1 << 20, job.each, longest_segment);
  const simulator::formula_call call{job.shape, 1 << 20, job.each, longest_segment};
  const double takes = simulator::predict(alone, call, job.on).predicted.seconds;
  CHECK(simulator::predict(alone, call, job.on, 1.01 * takes).predicted.seconds == takes);
  CHECK(std::isinf(simulator::predict(alone, call, job.on, takes).predicted.seconds));
  const auto all = simulator::workload_of(32, 1 << 20, 1, steps_of(*alone.how, job.shape));
  const double end = weft_test::completion(all, job.on.model, &job.on.links);
  CHECK(simulator::completion_by(end, all, job.on.model, &job.on.links) == end);
  CHECK_FALSE(simulator::completion_by(0.99 * end, all, job.on.model, &job.on.links));
}
