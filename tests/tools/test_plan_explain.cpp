// SPDX-License-Identifier: Apache-2.0
// `weft plan --explain`.
#include <map>
#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "printed_plan.hpp"
#include "temporary_file.hpp"
#include "variable.hpp"

using nlohmann::json;
using namespace weft_test;

namespace {

const std::string costs_of_a_test =
    "node.latency = 7e-07\nnode.overhead = 2e-07\nnode.gap = 3e-07\nnode.gap_per_byte = 1e-10\n"
    "node.exchange_per_byte = 2e-10\nnode.handshake = 1e-06\ncombine.sum.float = 5e-11\n";

const std::string costs_of_a_network =
    "fabric.latency = 1.5e-06\nfabric.overhead = 3e-07\nfabric.gap = 4e-07\nfabric.gap_per_byte = 8e-11\n"
    "fabric.exchange_per_byte = 8e-11\nfabric.handshake = 0\ncombine.sum.float = 5e-11\n";

/// Of eight hosts each.
const std::string four_switches =
    "SwitchName=s0 Nodes=a[1-8]\nSwitchName=s1 Nodes=b[1-8]\nSwitchName=s2 Nodes=c[1-8]\nSwitchName=s3 Nodes=d[1-8]\n"
    "SwitchName=top Switches=s[0-3]\n";

json explained(std::vector<std::string> arguments, const std::string& costs) {
  const temporary_file file(costs);
  arguments.insert(arguments.end(), {"--explain", "--tuning", file.path(), "--format", "json"});
  return json::parse(printed(arguments));
}

}  // namespace

TEST_CASE("an explanation lists every algorithm, the fastest first, and marks the choice") {
  for (const auto& [collective, ranks] : std::map<std::string, std::string>{
           {"allreduce", "2"}, {"reduce", "7"}, {"broadcast", "64"}, {"alltoall", "5"}, {"barrier", "1000000"}}) {
    const json made = explained({collective, "--ranks", ranks, "--bytes", "65536"}, costs_of_a_test);
    double before = 0;
    int chosen = 0;
    for (const json& one : made.at("alternatives")) {
      CHECK(one.at("predicted_us").get<double>() >= before);
      before = one.at("predicted_us");
      if (one.at("chosen")) ++chosen;
    }
    CHECK(chosen == 1);
    CHECK(made.at("alternatives").at(0).at("chosen") == true);
    CHECK(made.at("alternatives").at(0).at("algorithm") == made.at("chosen"));
    CHECK_FALSE(made.at("why").get<std::string>().empty());
  }
}

TEST_CASE("an explanation follows the costs, and what is asked for") {
  std::string slow_start = costs_of_a_test, slow_bytes = costs_of_a_test;
  slow_start.replace(slow_start.find("7e-07"), 5, "1e-02");
  slow_bytes.replace(slow_bytes.find("2e-10"), 5, "1e-06");
  slow_bytes.replace(slow_bytes.find("1e-10"), 5, "1e-06");
  const std::vector<std::string> on_node{"allreduce", "--ranks", "16", "--bytes", "65536"};
  CHECK(explained(on_node, slow_start).at("chosen") == "butterfly");
  CHECK(explained(on_node, slow_start).at("alternatives").at(0).at("degree") == 16);  // in two rounds
  std::vector<std::string> call = on_node;
  call.insert(call.end(), {"--road", "fabric"});  // over which nobody reads another one's memory
  CHECK(explained(call, slow_start).at("chosen") == "butterfly");
  CHECK(explained(call, slow_bytes).at("chosen") == "ring");
  const json wanted = explained({"allreduce", "--ranks", "16", "--algorithm", "ring"}, slow_start);
  CHECK(wanted.at("chosen") == "ring");
  CHECK_THAT(wanted.at("why").get<std::string>(), ContainsSubstring("--algorithm"));
  const temporary_file file(costs_of_a_test);
  const std::string text = printed({"allreduce", "--ranks", "4", "--explain", "--tuning", file.path()});
  CHECK_THAT(text, ContainsSubstring("chosen"));
  CHECK_THAT(text, ContainsSubstring("by length alone (--weft-tune=off): recursive-doubling"));
}

TEST_CASE("among groups that are far apart an all-gather of few messages between them is taken") {
  std::string far = costs_of_a_test.substr(0, costs_of_a_test.find("combine")) + costs_of_a_network;
  far.replace(far.find("fabric.latency = 1.5e-06"), 24, "fabric.latency = 1.5e-05");
  std::vector<std::string> call{"allgather", "--ranks", "64", "--bytes", "4096", "--road", "fabric"};
  CHECK(explained(call, far).at("chosen") == "bruck");
  call.insert(call.end(), {"--group-size", "8"});
  CHECK(explained(call, far).at("chosen") == "local-bruck");
}

TEST_CASE("in an explanation only messages longer than the eager limit pay for a handshake") {
  std::string slow_handshake = costs_of_a_test;
  slow_handshake.replace(slow_handshake.find("handshake = 1e-06"), 17, "handshake = 1e-03");
  const auto in_one_piece = [](const std::string& bytes, const std::string& costs) {
    const std::vector<std::string> call{"scan", "--ranks", "2", "--bytes", bytes, "--road", "fabric"};
    const json made = explained(call, costs);
    for (const json& one : made.at("alternatives"))
      if (one.at("algorithm") == "recursive-doubling") return one.at("predicted_us").get<double>();
    return 0.0;
  };
  CHECK(in_one_piece("8192", slow_handshake) == in_one_piece("8192", costs_of_a_test));
  CHECK(in_one_piece("1000000", slow_handshake) > in_one_piece("1000000", costs_of_a_test));
  CHECK(in_one_piece("32768", slow_handshake) ==
        in_one_piece("32768", costs_of_a_test));  // a short vector between nodes
  CHECK(in_one_piece("32772", slow_handshake) > in_one_piece("32772", costs_of_a_test));
  const variable shorter("WEFT_EAGER_LIMIT", "1024");
  CHECK(in_one_piece("1024", slow_handshake) == in_one_piece("1024", costs_of_a_test));
  CHECK(in_one_piece("8192", slow_handshake) > in_one_piece("8192", costs_of_a_test));
}

TEST_CASE("on a network an explanation says what its shared links make of each algorithm, as a simulation does") {
  const temporary_file network(four_switches), file(costs_of_a_network);
  const auto on_network = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"allreduce", "--ranks", "32", "--topology", network.path()});
    return explained(more, costs_of_a_network);
  };
  for (const std::string bytes : {"1M", "16M"}) {
    const json alone = explained({"allreduce", "--ranks", "32", "--bytes", bytes}, costs_of_a_network);
    CHECK(alone.at("chosen") == (bytes == "1M" ? "butterfly" : "ring"));
    const json made = on_network({"--bytes", bytes});
    CHECK(made.at("chosen") == "ring");
    CHECK(made.at("topology") == network.path());
    CHECK_THAT(made.at("why").get<std::string>(), ContainsSubstring("share the links of " + network.path()));
    if (bytes == "1M") CHECK_THAT(made.at("why").get<std::string>(), ContainsSubstring("butterfly would be"));
    for (const json& one : made.at("alternatives")) {
      if (!one.contains("simulated_us")) continue;
      std::vector<std::string> again{
          "sim",      "allreduce", "-n",     "32",          "--bytes",          bytes, "--topology", network.path(),
          "--tuning", file.path(), "--json", "--algorithm", one.at("algorithm")};
      if (one.at("segments") != 1) again.insert(again.end(), {"--segments", one.at("segments").dump()});
      if (one.contains("degree")) again.insert(again.end(), {"--degree", one.at("degree").dump()});
      for (const std::string grouped : {"smp", "tier", "modified"})
        if (again[12].find(grouped) != std::string::npos) again.insert(again.end(), {"--group-size", "8"});
      const outcome done = weft_test::run(again);
      CAPTURE(again, done.error);
      const double simulated = json::parse(done.output).at("completion").get<double>() / 1000;
      CHECK(std::abs(one.at("simulated_us").get<double>() - simulated) < 0.1 * simulated);
      CHECK(one.at("predicted_us").get<double>() == Approx(one.at("simulated_us").get<double>()));  // no handshake
    }
  }
  const auto longest = [](const json& made) { return made.at("alternatives").back().at("predicted_us").get<double>(); };
  CHECK(on_network({"--bytes", "1M", "--link-gap", "0.001"}).at("chosen") == "butterfly");
  CHECK(longest(on_network({"--bytes", "1M", "--placement", "random"})) > longest(on_network({"--bytes", "1M"})));
  const std::string text = printed({"allreduce", "--ranks", "32", "--bytes", "1M", "--topology", network.path(),
                                    "--explain", "--tuning", file.path()});
  CHECK_THAT(text, ContainsSubstring("links of " + network.path()));
  CHECK_THAT(text, ContainsSubstring("alone us"));
}

TEST_CASE("ranks that share the machines of a network go in stages, between which links may be shared") {
  const temporary_file network(four_switches);
  std::string boards = "boards.round = 2e-07\nboards.call = 1e-06\n";
  for (const std::string use : {"allreduce", "bcast", "allgather"})
    for (const std::string length : {"4k", "32k", "256k", "2048k", "8192k"})
      for (const std::string what : {"copy", "read"})
        boards += "boards." + use + "_" + what + "_" + length + " = 1e-10\n";
  const auto staged = [&](const std::string& gap) {
    const json made =
        explained({"bcast", "--ranks", "64", "--bytes", "64K", "--topology", network.path(), "--link-gap", gap},
                  costs_of_a_network + boards);
    for (const json& one : made.at("alternatives"))
      if (one.at("algorithm") == "staged")
        return std::pair(one.at("predicted_us").get<double>(), one.at("alone_us").get<double>());
    return std::pair(0.0, 0.0);
  };
  const auto [shared, alone] = staged("0.08");
  CHECK(alone > 0);
  CHECK(staged("0.8").first > shared);
  CHECK(staged("0.8").second == alone);
}

TEST_CASE("an explanation without costs, or with malformed ones, is refused") {
  const auto refused = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"plan", "allreduce", "--ranks", "4"});
    const outcome done = weft_test::run(arguments);
    CHECK(done.status != 0);
    CHECK(done.output.empty());
    return done.error;
  };
  CHECK_THAT(refused({"--explain"}), ContainsSubstring("weft tune"));
  CHECK_THAT(refused({"--tuning", "x"}), ContainsSubstring("--explain"));
  const temporary_file malformed("node.latency = 1\nnode.gap = quick\n");
  CHECK_THAT(refused({"--explain", "--tuning", malformed.path()}),
             ContainsSubstring(malformed.path() + ":2: \"quick\" is not a time"));
  const temporary_file file(costs_of_a_test);
  CHECK_THAT(refused({"--explain", "--tuning", file.path(), "--op", "min", "--type", "bool"}),
             ContainsSubstring("min does not exist on bool"));
  CHECK_THAT(refused({"--explain", "--tuning", file.path(), "--rank", "1"}), ContainsSubstring("--rank"));
  CHECK_THAT(refused({"--explain", "--tuning", file.path(), "--loads"}), ContainsSubstring("--loads"));
  CHECK_THAT(refused({"--explain", "--tuning", file.path(), "--link-gap", "1"}), ContainsSubstring("--topology FILE"));
  CHECK_THAT(refused({"--link-gap", "1"}), ContainsSubstring("--explain"));
  CHECK_THAT(refused({"--explain", "--tuning", file.path(), "--segments", "4"}), ContainsSubstring("--segments"));
  CHECK_THAT(refused({"--explain", "--tuning", file.path(), "--format", "dot"}), ContainsSubstring("text or json"));
}
