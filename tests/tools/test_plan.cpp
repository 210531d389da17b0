// `weft plan`.
#include <chrono>
#include <nlohmann/json.hpp>
#include <set>

#include "catch.hpp"
#include "launcher_under_test.hpp"

using namespace std::chrono_literals;
using nlohmann::json;
using weft_test::ContainsSubstring;
using weft_test::outcome;

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
  CHECK_THAT(refusal({"--ranks", "4", "--algorithm", "ring"}), ContainsSubstring("{greedy,binomial,"));
  CHECK_THAT(refusal({"--ranks", "4", "--format", "xml"}), ContainsSubstring("{text,json}"));
  CHECK_THAT(refusal({"--ranks", "4", "--max-transfers", "0"}), ContainsSubstring("is not a whole number from 1"));
  CHECK_THAT(refusal({"--ranks", "4", "--degree", "1"}), ContainsSubstring("is not a whole number from 2"));
  CHECK_THAT(refusal({"--ranks", "4", "--degree", "3"}), ContainsSubstring("only the f-nomial tree"));
  CHECK_THAT(refusal({"--ranks", "4", "--algorithm", "chain", "--max-reducers", "3"}),
             ContainsSubstring("only the greedy tree takes limits"));
  CHECK(weft_test::run({"plan", "gossip", "--ranks", "4"}).status == 2);
}
