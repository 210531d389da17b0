// `weft plan`.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <weft/schedules/algorithms.hpp>
#include <weft/schedules/schedule_sink.hpp>
#include <weft/simulator/goal.hpp>
#include <weft/simulator/simulate.hpp>

#include "catch.hpp"
#include "launcher_under_test.hpp"

using namespace std::chrono_literals;
using nlohmann::json;
using weft_test::ContainsSubstring;
using weft_test::outcome;

namespace {

/// What any collective's plan prints.
std::string printed(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "plan");
  const outcome done = weft_test::run(arguments);
  CAPTURE(arguments, done.error);
  CHECK(done.status == 0);
  return done.output;
}

std::string printed(const weft::schedules::algorithm& of, const std::vector<std::string>& more) {
  std::vector<std::string> arguments{std::string(name(of.kind)), "--algorithm", std::string(of.name)};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return printed(arguments);
}

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

/// A file that goes with its end.
class temporary_file {
 public:
  explicit temporary_file(const std::string& text) {
    static int files = 0;
    const auto name = "weft-test-plan-" + std::to_string(::getpid()) + "-" + std::to_string(++files);
    path_ = std::filesystem::temp_directory_path() / name;
    std::ofstream(path_) << text;
  }
  ~temporary_file() { std::filesystem::remove(path_); }
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;

  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

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

TEST_CASE("every algorithm has its plan in every format, and verifies") {
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
      std::size_t drawn = 0;
      for (const json& rank : all.at("steps"))
        for (const json& step : rank) {
          drawn += step.value("after", json::array()).size();
          drawn += step.at("kind") == "send" || step.at("kind") == "notify";
        }
      CHECK(edges == drawn);
    }
  }
}

TEST_CASE("one rank's steps are those that it has in the whole plan") {
  for (const auto& a : weft::schedules::algorithms()) {
    CAPTURE(name(a.kind), a.name);
    const json all = json::parse(printed(a, {"--ranks", "5", "--format", "json"}));
    for (const int rank : {0, 3}) {
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
      {"plan", "broadcast", "--ranks", "1000000", "--rank", "999999", "--format", "json", "--count", "8"});
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
        simulator::parse_goal(printed(a, {"--ranks", "5", "--count", "600", "--compute", "1200", "--format", "goal"}));
    const double directly = simulator::simulate(all, computing).completion;
    CHECK(directly > 1000);
    // A message without bytes is written with one.
    CHECK(std::abs(simulator::simulate(read, model).completion - directly) <=
          (a.kind == weft::schedules::collective::barrier ? 20 : 0));
  }
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

TEST_CASE("the list has every algorithm, with what it takes") {
  const json listed = json::parse(printed({"--list", "--format", "json"}));
  const auto table = weft::schedules::algorithms();
  REQUIRE(listed.size() == table.size());
  const std::string text = printed({"--list"}), help = weft_test::run({"plan", "--help"}).output;
  for (std::size_t i = 0; i < table.size(); ++i) {
    CHECK(listed[i].at("collective") == name(table[i].kind));
    CHECK(listed[i].at("name") == table[i].name);
    CHECK(listed[i].at("source") == table[i].source);
    CHECK(listed[i].at("formula") == table[i].formula);
    CHECK_THAT(text, ContainsSubstring(std::string(table[i].formula)));
    CHECK_THAT(help, ContainsSubstring(std::string(table[i].name)));
  }
  const json of_one = json::parse(printed({"bcast", "--list", "--format", "json"}));
  CHECK(of_one.size() > 4);
  for (const json& one : of_one) CHECK(one.at("collective") == "broadcast");
  CHECK(listed[0].at("parameters") == json({"--root", "--segments", "--window", "--keep-order"}));
}

TEST_CASE("the page of the algorithms says what the table and the plans say") {
  std::ifstream page(std::getenv("WEFT_TEST_ALGORITHMS"));
  REQUIRE(page);
  std::map<std::string, std::vector<std::string>> sections;
  std::string at;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("## ")) at.clear();
    if (line.starts_with("### ")) {
      at = line.substr(4);
      CAPTURE(at);
      CHECK(sections[at].empty());
    }
    if (!at.empty()) sections[at].push_back(line);
  }
  CHECK(sections.size() == weft::schedules::algorithms().size());
  const json listed = json::parse(printed({"--list", "--format", "json"}));
  for (const json& one : listed) {
    const std::string heading = one.at("collective").get<std::string>() + " " + one.at("name").get<std::string>();
    CAPTURE(heading);
    REQUIRE(sections.contains(heading));
    const std::vector<std::string>& lines = sections[heading];
    const auto says = [&](const std::string& line) {
      return std::find(lines.begin(), lines.end(), line) != lines.end();
    };
    CHECK(says("- Source: " + one.at("source").get<std::string>()));
    CHECK(says("- Cost: `" + one.at("formula").get<std::string>() + "`"));
    CHECK(says("- Rank order: " + one.at("rank_order").get<std::string>()));
    std::string takes;
    for (const json& option : one.at("parameters"))
      takes += (takes.empty() ? "`" : ", `") + option.get<std::string>() + "`";
    CHECK(says("- Takes: " + (takes.empty() ? "nothing" : takes)));
    const std::string prompt = "$ weft ";
    int drawings = 0;
    for (auto line = lines.begin(); line != lines.end();) {
      if (!line->starts_with(prompt)) {
        ++line;
        continue;
      }
      std::istringstream words(line->substr(prompt.size()));
      const std::vector<std::string> command{std::istream_iterator<std::string>(words), {}};
      const std::string algorithm = one.at("name").get<std::string>();
      CHECK(std::find(command.begin(), command.end(), algorithm) != command.end());
      std::string drawn;
      while (++line != lines.end() && *line != "```") drawn += *line + "\n";
      CHECK(weft_test::run(command).output == drawn);
      ++drawings;
    }
    CHECK(drawings >= 1);
  }
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
  CHECK(weft_test::run({"plan", "gossip", "--ranks", "4"}).status == 2);
  CHECK_THAT(weft_test::run({"plan", "--ranks", "4"}).error, ContainsSubstring("COLLECTIVE is required"));
}
