// SPDX-License-Identifier: Apache-2.0
// `weft plan`: trees with their times, and what is refused.
#include <chrono>
#include <nlohmann/json.hpp>
#include <set>
#include <weft/simulator/goal.hpp>

#include "catch.hpp"
#include "printed_plan.hpp"
#include "temporary_file.hpp"

using namespace std::chrono_literals;
using nlohmann::json;
using namespace weft_test;

namespace {

outcome plan(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"plan", "reduce"});
  return weft_test::run(arguments);
}

json plan_json(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--format", "json"});
  const outcome done = plan(arguments);
  CHECK(done.status == 0);
  return json::parse(done.output);
}

}  // namespace

TEST_CASE("a plan lists every transfer") {
  const json made =
      plan_json({"--ranks", "8", "--algorithm", "greedy", "--transfer", "1", "--compute", "1", "--root", "3"});
  CHECK(made.at("collective") == "reduce");
  CHECK(made.at("algorithm") == "greedy");
  CHECK(made.at("ranks") == 8);
  CHECK(made.at("root") == 3);
  CHECK(made.at("length") == 5);
  std::set<int> senders;
  for (const json& edge : made.at("edges")) {
    CHECK(senders.insert(edge.at("from").get<int>()).second);
    CHECK(edge.at("end").get<int>() - edge.at("start").get<int>() == 1);
    CHECK(edge.at("end") < made.at("length"));
  }
  CHECK(senders == std::set<int>{0, 1, 2, 4, 5, 6, 7});
  CHECK(plan_json({"--ranks", "8", "--algorithm", "binomial"}).at("length") == 6);
}

TEST_CASE("every kind of tree is planned, and greedy ones within limits") {
  for (const char* algorithm : {"fibonacci", "fnomial", "chain"})
    CHECK(plan_json({"--ranks", "9", "--algorithm", algorithm}).at("edges").size() == 8);
  CHECK(plan_json({"--ranks", "8", "--algorithm", "fnomial", "--degree", "8"}).at("length") == 8);
  CHECK(plan_json({"--ranks", "64", "--compute", "2", "--max-transfers", "4"}).at("length") == 23);
  CHECK(plan_json({"--ranks", "64", "--compute", "2", "--max-reducers", "4"}).at("length") == 37);
}

TEST_CASE("a limited tree is one in every format, and can be run") {
  for (const std::string limit : {"--max-transfers", "--max-reducers"}) {
    const std::vector<std::string> wanted{"reduce", "--ranks", "9", "--root", "4", limit, "2", "--verify"};
    const auto with = [&](const std::vector<std::string>& more) {
      std::vector<std::string> arguments = wanted;
      arguments.insert(arguments.end(), more.begin(), more.end());
      return printed(arguments);
    };
    std::set<int> parents;
    const json tree = json::parse(with({"--format", "json"}));
    for (const json& edge : tree.at("edges")) parents.insert(edge.at("to").get<int>());
    if (limit == "--max-reducers") CHECK(parents.size() == 2);
    const auto goal = weft::simulator::parse_goal(with({"--format", "goal"}));
    CHECK(goal.ranks() == 9);
    for (const int rank : parents) CHECK_THAT(with({"--rank", std::to_string(rank)}), ContainsSubstring("combine"));
  }
}

TEST_CASE("a reduction in the order of the ranks says what it costs") {
  const json ordered = plan_json({"--ranks", "8", "--root", "3", "--keep-order"});
  CHECK(ordered.at("length") == plan_json({"--ranks", "8", "--root", "3"}).at("length"));
  const std::string text =
      printed({"reduce", "--algorithm", "chain", "--ranks", "5", "--root", "2", "--keep-order", "--verify"});
  CHECK_THAT(text, ContainsSubstring("one more transfer, since the root cannot head the tree: 0 to 2"));
  const json all = json::parse(
      printed({"reduce", "--algorithm", "chain", "--ranks", "5", "--root", "2", "--keep-order", "--format", "json"}));
  CHECK(all.at("edges").size() == 5);
  CHECK(all.at("edges").back().at("to") == 2);
}

TEST_CASE("ranks that are not alike are planned by the costs in a file") {
  const auto planned = [&](const std::string& text) {
    const temporary_file costs(text);
    return plan({"--algorithm", "uneven", "--ranks", "3", "--format", "json", "--rank-costs", costs.path()});
  };
  CHECK(json::parse(planned("# arrivals\n0\n9\n\n0 2 1\n").output).at("length") == 11);
  CHECK_THAT(planned("0\n0\n").error, ContainsSubstring("costs of 2 ranks: there are 3"));
  CHECK_THAT(planned("0\n0 1\n0\n").error, ContainsSubstring(":2: a line holds"));
  CHECK_THAT(planned("0\n0\nx\n").error, ContainsSubstring(":3: \"x\" is not a time"));
  CHECK_THAT(plan({"--algorithm", "uneven", "--ranks", "3", "--rank-costs", "/nowhere/none"}).error,
             ContainsSubstring("none cannot be read"));
}

TEST_CASE("whole times are printed as whole numbers, others exactly") {
  const json whole = plan_json({"--ranks", "3000", "--transfer", "1000000", "--compute", "250000"});
  CHECK(whole.at("length").is_number_integer());
  for (const json& edge : whole.at("edges")) CHECK(edge.at("end").is_number_integer());
  CHECK(plan_json({"--ranks", "2", "--transfer", "0.1", "--compute", "0.2"}).at("length").get<double>() == 0.1 + 0.2);
  CHECK(plan_json({"--ranks", "1"}).at("edges").empty());
}

TEST_CASE("a plan of many ranks takes seconds") {
  const outcome large = plan({"--ranks", "100000", "--transfer", "3", "--compute", "2", "--format", "json"});
  CHECK(large.time < 30s);
  CHECK(json::parse(large.output).at("edges").size() == 99'999);
}

TEST_CASE("a plan as text is a tree") {
  const outcome text = plan({"--ranks", "3", "--algorithm", "binomial"});
  CHECK_THAT(text.output, ContainsSubstring("length"));
  CHECK_THAT(text.output, ContainsSubstring("|-- 1"));
  CHECK_THAT(text.output, ContainsSubstring("`-- 2"));
}

TEST_CASE("a broadcast is a tree with times too") {
  const json made =
      json::parse(printed({"bcast", "--ranks", "8", "--root", "2", "--transfer", "3", "--format", "json"}));
  CHECK(made.at("collective") == "broadcast");
  CHECK(made.at("length") == 9);
  std::set<int> receivers;
  for (const json& edge : made.at("edges")) CHECK(receivers.insert(edge.at("to").get<int>()).second);
  CHECK(receivers == std::set<int>{0, 1, 3, 4, 5, 6, 7});
  CHECK(json::parse(printed({"bcast", "--algorithm", "chain", "--ranks", "8", "--format", "json"})).at("length") == 7);
  CHECK_THAT(printed({"bcast", "--ranks", "3"}), ContainsSubstring("|-- 1  [1, 2]"));
}

TEST_CASE("bad arguments of a plan are named, with what is right") {
  const auto refusal = [](const std::vector<std::string>& arguments) {
    const outcome refused = plan(arguments);
    CAPTURE(arguments);
    CHECK(refused.status == 2);
    CHECK(refused.output.empty());
    return refused.error;
  };
  CHECK_THAT(refusal({}), ContainsSubstring("--ranks is required"));
  for (const char* ranks : {"0", "-1", "x", "99999999999"})
    CHECK_THAT(refusal({"--ranks", ranks}), ContainsSubstring("is not a whole number from 1"));
  CHECK_THAT(refusal({"--ranks", "4", "--root", "4"}), ContainsSubstring("ranks 0 to 3"));
  CHECK_THAT(refusal({"--ranks", "4", "--root", "-1"}), ContainsSubstring("not a rank"));
  for (const char* cost : {"-1", "nan", "inf", "x", ""})
    CHECK_THAT(refusal({"--ranks", "4", "--transfer", cost}), ContainsSubstring("is not a time"));
  const std::string no_ring = refusal({"--ranks", "4", "--algorithm", "ring"});
  for (const char* name : {"\"ring\"", "binomial", "greedy", "fnomial-split", "two-tree"})
    CHECK_THAT(no_ring, ContainsSubstring(name));
  CHECK_THAT(refusal({"--ranks", "4", "--format", "xml"}), ContainsSubstring("{text,json,dot,goal}"));
  CHECK_THAT(refusal({"--ranks", "4", "--max-transfers", "0"}), ContainsSubstring("is not a whole number from 1"));
  CHECK_THAT(refusal({"--ranks", "4", "--degree", "1"}), ContainsSubstring("is not a whole number from 2"));
  CHECK_THAT(refusal({"--ranks", "4", "--degree", "3"}),
             ContainsSubstring("reduce greedy does not take that; it takes --root, --segments, --window, --transfer"));
  CHECK_THAT(refusal({"--ranks", "4", "--algorithm", "chain", "--max-reducers", "3"}),
             ContainsSubstring("reduce chain does not take that"));
  CHECK_THAT(refusal({"--ranks", "4", "--rank", "4"}), ContainsSubstring("ranks 0 to 3"));
  CHECK_THAT(refusal({"--ranks", "4", "--rank", "1", "--format", "goal"}), ContainsSubstring("text or json"));
  CHECK_THAT(refusal({"--list", "--format", "dot"}), ContainsSubstring("text or json"));
  const auto takes = [](const std::string& collective, const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"plan", collective, "--ranks", "4"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const outcome refused = weft_test::run(arguments);
    CHECK(refused.status == 2);
    return refused.error;
  };
  CHECK_THAT(takes("barrier", {"--root", "1"}), ContainsSubstring("takes no parameters"));
  CHECK_THAT(takes("allreduce", {"--algorithm", "ring", "--transfer", "1"}), ContainsSubstring("--topology"));
  CHECK_THAT(takes("alltoall", {"--topology", "x"}), ContainsSubstring("it takes --window"));
  CHECK_THAT(takes("allreduce", {"--algorithm", "two-tier", "--group-size", "2", "--topology", "x"}),
             ContainsSubstring("not both"));
  const outcome many = weft_test::run({"plan", "alltoall", "--ranks", "70000", "--rank", "0"});
  CHECK(many.status == 2);
  CHECK(many.error == "weft plan: an all-to-all is among 65535 ranks at most, not 70000\n");
  CHECK(weft_test::run({"plan", "gossip", "--ranks", "4"}).status == 2);
  CHECK_THAT(weft_test::run({"plan", "--ranks", "4"}).error, ContainsSubstring("COLLECTIVE is required"));
}
