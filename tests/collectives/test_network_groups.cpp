// SPDX-License-Identifier: Apache-2.0
// Jobs on a network that a file describes or their processes know of: rings go along it, and groups are its clusters.
#include <weft/api/choices.hpp>
#include <weft/choice/rank_groups.hpp>
#include <weft/schedules/algorithms.hpp>

#include "catch.hpp"
#include "run_ranks.hpp"
#include "temporary_file.hpp"

using namespace weft_test;
using namespace weft::detail;
using weft::schedules::road;
using weft::topology::network_place;

namespace {

using numbers = std::vector<int>;

const char* const two_clusters =
    "SwitchName=west Nodes=a[0-3]\n"
    "SwitchName=east Nodes=b[0-3]\n"
    "SwitchName=wide Switches=west,east\n";

/// The processes 0 to 7, two on each of four nodes, which are in clusters by turns.
const std::vector<int> nodes{0, 1, 2, 3, 0, 1, 2, 3};
const std::vector<network_place> places{{0, 0}, {1, 4}, {0, 2}, {1, 6}, {0, 1}, {1, 5}, {0, 3}, {1, 7}};
const std::vector<bool> reading(8, true);

job on_nodes(std::vector<std::string> names, const std::string& topology) {
  job what;
  what.processes = static_cast<int>(names.size());
  what.nodes = std::move(names);
  what.settings.topology = topology;
  return what;
}

void add_up(weft::communicator& world) {
  for (const std::size_t count : {1, 7, 1000, 50'000}) {
    std::vector<double> values(count, world.rank() + 1.0), data(count, world.rank());
    world.allreduce(values, values, weft::sum);
    world.bcast(data, 1);
    const double all = world.size() * (world.size() + 1) / 2.0;
    for (std::size_t i = 0; i < count; ++i)
      expect(values[i] == all && data[i] == 1, "element ", i, " of ", count, ": ", values[i], ", ", data[i]);
  }
}

}  // namespace

TEST_CASE("groups are the clusters of the network, and rings go along it") {
  const std::vector<std::int32_t> all{0, 1, 2, 3, 4, 5, 6, 7};
  const rank_groups groups(all, nodes, reading, 0, places);
  CHECK(groups.members == std::vector<numbers>{{0, 2, 4, 6}, {1, 3, 5, 7}});
  CHECK(groups.order == numbers{0, 4, 2, 6, 1, 5, 3, 7});
  CHECK_FALSE(groups.in_rows);
  CHECK(groups.farthest == road::line);
  CHECK(groups.within == road::fabric);
}

TEST_CASE("groups of a communicator in one cluster are its nodes") {
  const std::vector<std::int32_t> some{6, 0, 4};
  const rank_groups groups(some, nodes, reading, 0, places);
  CHECK(groups.members == std::vector<numbers>{{0}, {1, 2}});
  CHECK(groups.order == numbers{1, 2, 0});
  CHECK(groups.farthest == road::fabric);
  CHECK(groups.within == road::node);
}

TEST_CASE("groups of as many ranks as are asked for may lie across clusters") {
  const std::vector<std::int32_t> all{0, 4, 2, 1, 5, 3};
  const rank_groups two(all, nodes, reading, 2, places);
  CHECK(two.members == std::vector<numbers>{{0, 1}, {2, 3}, {4, 5}});
  CHECK(two.farthest == road::line);
  CHECK(two.within == road::line);
  const rank_groups three(all, nodes, reading, 3, places);
  CHECK(three.in_rows);
  CHECK(three.within == road::fabric);
}

TEST_CASE("without places groups are as ever") {
  const std::vector<std::int32_t> all{0, 1, 4, 5};
  const rank_groups groups(all, nodes, reading, 0, {});
  CHECK(groups.members == std::vector<numbers>{{0, 2}, {1, 3}});
  CHECK(groups.order.empty());
  CHECK(groups.farthest == road::fabric);
}

TEST_CASE("jobs in two clusters measure the line between them, and every algorithm adds up") {
  temporary_file file(two_clusters);
  const std::vector<std::string> names{"a0", "b0", "a1", "b1", "a1", "b2"};
  job measuring = on_nodes(names, file.path());
  measuring.settings.tune = "start";
  measuring.settings.tune_budget = std::chrono::milliseconds(4);
  measuring.settings.connections = 2;
  run_ranks(measuring, [](weft::communicator& world) {
    const tuning* const measured = choices::costs(world);
    expect(measured != nullptr && measured->machine[road::line] && measured->machine[road::fabric], "both roads");
    add_up(world);
  });
  for (const auto& how : weft::schedules::algorithms_of(collective::allreduce)) {
    job by_name = on_nodes(names, file.path());
    by_name.settings.allreduce = how.name;
    by_name.settings.connections = 2;
    CAPTURE(how.name);
    run_ranks(by_name, add_up);
  }
}

TEST_CASE("switches that the processes know of tell clusters apart, unless nothing is to be known") {
  job what = on_nodes({"a0", "b0", "a1", "b1"}, "");
  what.switches = {"wide.west", "wide.east", "wide.west", "wide.east"};
  what.settings.tune = "start";
  what.settings.tune_budget = std::chrono::milliseconds(4);
  const auto knows_line = [](weft::communicator& world) {
    const tuning* const measured = choices::costs(world);
    return measured != nullptr && measured->machine[road::line].has_value();
  };
  run_ranks(what, [&](weft::communicator& world) {
    expect(knows_line(world), "a line between the clusters");
    add_up(world);
  });
  job unknown = what, in_part = what;
  unknown.settings.topology = "none";
  in_part.switches[2] = "";
  for (const job& without : {unknown, in_part})
    run_ranks(without, [&](weft::communicator& world) { expect(!knows_line(world), "no clusters"); });
}

TEST_CASE("what is wrong with the network's description is an error of every process") {
  const auto refused = [](const std::string& text, const std::string& why) {
    temporary_file file(text);
    for (const auto& failure : run_processes(on_nodes({"a0", "a1", "b0"}, file.path()), [](int, weft::runtime&) {})) {
      REQUIRE(failure != nullptr);
      CHECK_THAT(text_of(failure), ContainsSubstring(why));
    }
  };
  refused("SwitchName=s Nodes=a[0-1]\n", "rank 2 is on b0, which is not in the network description");
  refused("SwitchName=s Nodes=a[0-1],b0\nSwitchName=t Nodes=c\n", "one switch should be above all others");
  refused("SwitchName=s Nodes=a0 Switches=t\nSwitchName=t Switches=s\n", "the switches make a loop");
  for (const auto& failure :
       run_processes(on_nodes({"a0", "a1"}, "/nowhere/topology.conf"), [](int, weft::runtime&) {}))
    CHECK_THAT(text_of(failure), ContainsSubstring("/nowhere/topology.conf cannot be read"));
}
