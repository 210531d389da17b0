// SPDX-License-Identifier: Apache-2.0
// `weft plan` of every algorithm, in every format.
#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <random>
#include <regex>
#include <set>
#include <sstream>
#include <weft/schedules/algorithms.hpp>
#include <weft/schedules/schedule_sink.hpp>
#include <weft/simulator/goal.hpp>
#include <weft/simulator/simulate.hpp>

#include "catch.hpp"
#include "printed_plan.hpp"
#include "sanitized.hpp"
#include "seed.hpp"
#include "temporary_file.hpp"
#include "thorough.hpp"

using namespace std::chrono_literals;
using nlohmann::json;
using namespace weft_test;

namespace {

/// Checks that the text is a digraph of balanced braces, each of whose statements is an attribute, a node or an edge
/// between nodes that have been declared where there are clusters. The number of its edges.
std::size_t edges_of_dot(const std::string& text) {
  const std::regex node("(r\\d+s\\d+|\\d+) \\[.*\\];"), edge("(\\w+) -> (\\w+)( \\[.*\\])?;"),
      other("digraph \\w+ \\{|subgraph cluster_\\d+ \\{|\\}|label=\"[^\"]*\";|node \\[shape=box\\];");
  std::set<std::string> nodes;
  std::size_t edges = 0;
  int open = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    line.erase(0, line.find_first_not_of(' '));
    std::smatch parts;
    if (std::regex_match(line, parts, edge)) {
      ++edges;
      const bool declared = nodes.contains(parts[1]) && nodes.contains(parts[2]);
      CHECK((declared || parts[1].str().front() != 'r'));
    } else if (std::regex_match(line, parts, node)) {
      nodes.insert(parts[1]);
    } else {
      CHECK(std::regex_match(line, other));
    }
    open += static_cast<int>(std::count(line.begin(), line.end(), '{') - std::count(line.begin(), line.end(), '}'));
    CHECK(open >= 0);
  }
  CHECK(open == 0);
  return edges;
}

}  // namespace

TEST_CASE("every algorithm has its plan in every format, verifies, and one rank's steps are those of the whole plan") {
  const auto seed = test_seed();
  INFO("WEFT_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  for (const auto& a : weft::schedules::algorithms()) {
    CAPTURE(name(a.kind), a.name);
    const std::string text = printed(a, {"--ranks", "5", "--verify"});
    CHECK_THAT(text, ContainsSubstring(std::string(a.name)));
    CHECK(std::count(text.begin(), text.end(), '\n') > 2);
    const json all = json::parse(printed(a, {"--ranks", "5", "--format", "json"}));
    CHECK(all.at("collective") == name(a.kind));
    CHECK(all.at("algorithm") == a.name);
    CHECK(all.at("ranks") == 5);
    CHECK(all.contains("order") == ((a.parameters & weft::schedules::takes::order) != 0));
    const std::size_t edges = edges_of_dot(printed(a, {"--ranks", "5", "--format", "dot"}));
    if (all.contains("edges")) {
      CHECK(all.at("edges").size() == 4);
      CHECK(edges == 4);
    } else {
      CHECK(all.at("steps").size() == 5);
      std::size_t arrows = 0;
      for (const json& rank : all.at("steps"))
        for (const json& step : rank) {
          arrows += step.value("after", json::array()).size();
          arrows += step.at("kind") == "send" || step.at("kind") == "notify";
        }
      CHECK(edges == arrows);
    }
    for (const int rank : drawn(std::vector{0, 1, 2, 3, 4}, 1, random)) {
      CAPTURE(rank);
      const json one = json::parse(printed(a, {"--ranks", "5", "--format", "json", "--rank", std::to_string(rank)}));
      CHECK(one.at("rank") == rank);
      if (all.contains("steps")) {
        CHECK(one.at("steps") == all.at("steps").at(static_cast<std::size_t>(rank)));
        continue;
      }
      std::multiset<int> from_tree, from_steps;
      for (const json& edge : all.at("edges"))
        if (edge.at("from") == rank) from_tree.insert(edge.at("to").get<int>());
      for (const json& step : one.at("steps"))
        if (step.at("kind") == "send") from_steps.insert(step.at("peer").get<int>());
      CHECK(from_tree == from_steps);
    }
  }
}

TEST_CASE("a million ranks' plan shows one of them") {
  const outcome tree = weft_test::run(
      {"plan", "broadcast", "--ranks", "1000000", "--rank", "999999", "--format", "json", "--bytes", "8"});
  CHECK(tree.time < 30s);
  const json steps = json::parse(tree.output).at("steps");
  REQUIRE(steps.size() == 1);
  CHECK(steps[0].at("kind") == "receive");
  CHECK(steps[0].at("peer") == 999998);
  CHECK(steps[0].at("bytes") == 8);
  const std::string ring = printed({"allreduce", "--algorithm", "ring", "--ranks", "1000000", "--rank", "7"});
  std::size_t sends = 0;
  for (std::size_t at = ring.find("send"); at != std::string::npos; at = ring.find("send", at + 1)) ++sends;
  CHECK(sends == 1'999'998);
}

TEST_CASE("trees of a million ranks take less than 200 MB") {
  if (slowed) return;                              // whose own memory counts
  const std::string limit = "ulimit -d 195312; ";  // KiB of a process's own memory, beyond which it gets none
  const auto within = [&](const std::string& algorithm, const std::string& ranks) {
    return weft_test::run({"run", "-n", "1", "bash", "-c",
                           limit + "set -o pipefail; \"$WEFT_TEST_COMMAND\" plan reduce --algorithm " + algorithm +
                               " --ranks " + ranks + " --rank 77777 --format json | sed -n '1p;$p'"});
  };
  for (const auto& a : weft::schedules::algorithms_of(weft::schedules::collective::reduce)) {
    if (a.pattern != weft::schedules::memory_pattern::none) continue;  // so many are on no node
    CAPTURE(a.name);
    const outcome planned = within(std::string(a.name), "1000000");
    CHECK(planned.error == "");
    CHECK(planned.status == 0);
    CHECK_THAT(planned.output, ContainsSubstring("\"ranks\": 1000000,"));
    CHECK(planned.output.ends_with("]}\n"));
  }
  CHECK(within("greedy", "10000000").status != 0);  // the limit is one
}

TEST_CASE("a plan as GOAL takes as long as the steps that it was made from") {
  namespace simulator = weft::simulator;
  simulator::machine_model model;
  model.latency = 1000;
  model.overhead = 100;
  model.gap_per_byte = 3;
  simulator::machine_model computing = model;
  computing.compute_per_byte = 2;
  for (const auto& a : weft::schedules::algorithms()) {
    CAPTURE(name(a.kind), a.name);
    weft::schedules::algorithm_arguments of;
    of.ranks = 5;
    of.compute = 1200;
    const std::size_t elements = a.kind == weft::schedules::collective::alltoall ? 3000 : 600;
    const auto all = simulator::workload_of(5, elements, 1, [&](int rank, weft::schedules::sink& to) {
      of.rank = rank;
      a.emit(of, to);
    });
    const auto read =
        simulator::parse_goal(printed(a, {"--ranks", "5", "--bytes", "600", "--compute", "1200", "--format", "goal"}));
    const double directly = simulator::simulate(all, computing).completion;
    CHECK(directly > 1000);
    // A message without bytes is written with one, and GOAL knows no reading of another rank's memory.
    const bool notifies = a.kind == weft::schedules::collective::barrier;
    const double through_goal = simulator::simulate(read, model).completion;
    if (a.pattern != weft::schedules::memory_pattern::none && !notifies)
      CHECK(through_goal > 1000);
    else if (!notifies && (a.parameters & weft::schedules::takes::nodes) != 0)
      CHECK((through_goal > 1000 && through_goal < directly));
    else
      CHECK(std::abs(through_goal - directly) <= (notifies ? 20 : 0));
  }
}

TEST_CASE("a plan says what goes through each link of a network, and how much of it at once") {
  const temporary_file network(
      "SwitchName=s0 Nodes=a[1-8]\nSwitchName=s1 Nodes=b[1-8]\nSwitchName=s2 Nodes=c[1-8]\nSwitchName=s3 Nodes=d[1-8]\n"
      "SwitchName=top Switches=s[0-3]\n");
  const auto loads = [&](const std::string& algorithm, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"allreduce", "--algorithm", algorithm, "--ranks", "32", "--bytes", "32K", "--topology",
                               network.path(), "--loads"});
    return printed(more);
  };
  const json ring = json::parse(loads("ring", {"--format", "json"}));
  CHECK(ring.at("most_at_once") == 1);
  CHECK(ring.at("links").size() == 2 * 36);
  for (const json& one : ring.at("links")) {
    CHECK(one.at("at_once") == 1);
    CHECK(one.at("messages") == 62);
    CHECK(one.at("bytes") == 62 * 1024);
  }
  const json butterfly = json::parse(loads("butterfly", {"--format", "json"}));
  CHECK(butterfly.at("most_at_once") == 8);
  // Halves, quarters, ... to the rank 16, 8, ... behind, there and back: of the nearer ones not all are elsewhere.
  constexpr int out_of_a_switch = 2 * (8 * 16 + 8 * 8 + 4 * 4 + 2 * 2 + 1 * 1) * 1024;
  std::uint64_t up = 0;
  for (const json& one : butterfly.at("links")) {
    const bool is_switch = one.at("above") == "top";
    CHECK(one.at("at_once") == (is_switch ? 8 : 1));
    CHECK(one.at("bytes") == (is_switch ? out_of_a_switch : 62 * 1024));
    if (is_switch && one.at("direction") == "up") up += one.at("bytes").get<std::uint64_t>();
  }
  CHECK(up == 4u * out_of_a_switch);
  const std::string text = loads("butterfly");
  CHECK_THAT(text, ContainsSubstring("butterfly all-reduce, 32 ranks, 32768 bytes, links of " + network.path() +
                                     ": at most 8 messages at once on one\n"));
  CHECK_THAT(text, ContainsSubstring("\ns3 -> top"));
  CHECK_THAT(text, ContainsSubstring("\ns0 -> a1 "));
  const auto refused = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"plan", "allreduce", "--ranks", "4", "--loads"});
    const outcome done = weft_test::run(arguments);
    CHECK(done.status != 0);
    return done.error;
  };
  CHECK_THAT(refused({}), ContainsSubstring("--topology FILE"));
  CHECK_THAT(refused({"--topology", network.path(), "--rank", "1"}), ContainsSubstring("without --rank"));
  CHECK_THAT(refused({"--topology", network.path(), "--format", "goal"}), ContainsSubstring("text or json"));
}

TEST_CASE("a network gives a plan its ring and its groups") {
  const temporary_file network(
      "SwitchName=s0 Nodes=a[1-2]\nSwitchName=s1 Nodes=b[1-2]\nSwitchName=top Switches=s[0-1]\n");
  // On eight ranks, around twice: machines a1 a2 b1 b2 have ranks 0 4, 1 5, 2 6, 3 7.
  const json twice = json::parse(printed({"allreduce", "--algorithm", "ring", "--ranks", "8", "--topology",
                                          network.path(), "--placement", "cyclic", "--format", "json"}));
  CHECK(twice.at("order") == json({0, 4, 1, 5, 2, 6, 3, 7}));
  CHECK(twice.at("steps").at(0).at(0).at("peer") == 4);
  const auto two_tier = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"allreduce", "--algorithm", "two-tier", "--ranks", "4"});
    return printed(more);
  };
  CHECK(two_tier({"--topology", network.path()}) == two_tier({"--group-size", "2"}));
  CHECK(two_tier({"--topology", network.path()}) != two_tier({}));
}
