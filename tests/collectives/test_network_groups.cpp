// SPDX-License-Identifier: Apache-2.0
// Jobs on a network that a file describes or their processes know of: rings go along it, and groups are its clusters.
#include <weft/api/choices.hpp>
#include <weft/choice/network_costs.hpp>
#include <weft/choice/rank_groups.hpp>
#include <weft/schedules/algorithms.hpp>
#include <weft/simulator/simulate.hpp>
#include <weft/simulator/workload_builder.hpp>
#include <weft/topology/switches_above.hpp>

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

TEST_CASE("the links of a network make messages cost what their roads do") {
  const auto between = weft::topology::network_of(
      std::vector<weft::topology::machine_below>{{"a", "top.west"}, {"b", "top.west"}, {"c", "top.east"}});
  const std::vector<std::int32_t> all{0, 1, 2, 3};  // two on a, one on b, one on c
  const auto places = weft::topology::places_of(between->between, std::vector<int>{0, 0, 1, 2});
  const rank_groups groups(all, std::vector<int>{0, 0, 1, 2}, reading, 0, places);
  weft::schedules::machine_costs costs;
  costs[road::node] = {1, 0.5, 0, 0.125, 0.125, 0};
  costs[road::fabric] = {4, 1, 0, 0.25, 0.25, 0};
  costs[road::line] = {100, 2, 0, 2, 2, 0};
  const auto on = priced(between->between, groups, costs, 0, 4);
  struct sent_message {
    int from, to;
    std::uint64_t bytes;
  };
  const auto all_sent = [&](const std::vector<sent_message>& messages) {
    weft::simulator::workload_builder made;
    for (int rank = 0; rank < 4; ++rank) {
      for (const sent_message& each : messages) {
        if (each.from == rank) made.add({weft::simulator::operation_kind::send, each.to, 0, each.bytes}, {});
        if (each.to == rank) made.add({weft::simulator::operation_kind::receive, each.from, 0, each.bytes}, {});
      }
      made.end_rank();
    }
    return weft::simulator::simulate(made.finish(), on.model, &on.links).completion;
  };
  const auto message = [&](int from, int to, double bytes) {
    return all_sent({{from, to, static_cast<std::uint64_t>(bytes)}});
  };
  for (const double bytes : {0.0, 64.0}) {
    CHECK(message(0, 1, bytes) == 1 + 2 * 0.5 + 0.125 * bytes);
    CHECK(message(0, 2, bytes) == 4 + 2 * 1 + 0.25 * bytes);
    CHECK(message(3, 0, bytes) == 100 + 2 * 2 + 2 * bytes);
  }
  // Two at once share the link of a machine; the line takes four pairs.
  CHECK(all_sent({{0, 2, 64}, {1, 3, 64}}) == 100 + 2 * 2 + 2 * 64);
  CHECK(all_sent({{0, 2, 64}, {1, 2, 64}}) == message(0, 2, 128) + 0.5);  // and the CPU of who receives
}

TEST_CASE("a job on a network takes what does not crowd its links, unless it is told otherwise") {
  const temporary_file file(
      "SwitchName=s0 Nodes=a[0-1]\nSwitchName=s1 Nodes=b[0-1]\nSwitchName=s2 Nodes=c[0-1]\n"
      "SwitchName=s3 Nodes=d[0-1]\nSwitchName=top Switches=s[0-3]\n");
  const temporary_file costs(
      "fabric.latency = 1.5e-06\nfabric.overhead = 3e-07\nfabric.gap = 4e-07\nfabric.gap_per_byte = 8e-11\n"
      "fabric.exchange_per_byte = 8e-11\nfabric.handshake = 0\ncombine.sum.float = 5e-11\ncombine.sum.double = "
      "5e-11\n");
  const auto taken = [&](const job& what, const std::string& named, collective kind = collective::allreduce) {
    run_ranks(what, [&](weft::communicator& world) {
      const auto call =
          choices::request(world, kind, 1 << 20, weft::kernels::operation::sum, weft::kernels::type::float32);
      const auto* const how = choices::taken(world, call).how;
      expect(how->name == named, "taken: ", how->name, ", not ", named);
      add_up(world);
    });
  };
  job with = on_nodes({"a0", "a1", "b0", "b1", "c0", "c1", "d0", "d1"}, file.path());
  with.settings.tune = costs.path();
  taken(with, "ring");
  job by_switches = with;
  by_switches.settings.topology = "";
  by_switches.switches = {"top.s0", "top.s0", "top.s1", "top.s1", "top.s2", "top.s2", "top.s3", "top.s3"};
  taken(by_switches, "ring");
  job by_name = with;
  by_name.settings.allreduce = "butterfly";
  taken(by_name, "butterfly");
  job untuned = with;
  untuned.settings.tune = "off";
  taken(untuned, "scatter-doubling", collective::broadcast);
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
