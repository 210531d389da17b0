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
  CHECK(explained(on_node, slow_start).at("chosen") == "multi-leader");
  std::vector<std::string> call = on_node;
  call.insert(call.end(), {"--road", "fabric"});  // over which nobody reads another one's memory
  CHECK(explained(call, slow_start).at("chosen") == "recursive-doubling");
  CHECK(explained(call, slow_bytes).at("chosen") == "ring");
  const json wanted = explained({"allreduce", "--ranks", "16", "--algorithm", "ring"}, slow_start);
  CHECK(wanted.at("chosen") == "ring");
  CHECK_THAT(wanted.at("why").get<std::string>(), ContainsSubstring("--algorithm"));
  const temporary_file file(costs_of_a_test);
  const std::string text = printed({"allreduce", "--ranks", "4", "--explain", "--tuning", file.path()});
  CHECK_THAT(text, ContainsSubstring("chosen"));
  CHECK_THAT(text, ContainsSubstring("by length alone (--weft-tune=off): recursive-doubling"));
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
  CHECK_THAT(refused({"--explain", "--tuning", file.path(), "--segments", "4"}), ContainsSubstring("--segments"));
  CHECK_THAT(refused({"--explain", "--tuning", file.path(), "--format", "dot"}), ContainsSubstring("text or json"));
}
