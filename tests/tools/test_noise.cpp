// SPDX-License-Identifier: Apache-2.0
// `weft noise`.
#include <nlohmann/json.hpp>
#include <weft/topology/affinity.hpp>

#include "catch.hpp"
#include "launcher_under_test.hpp"

using nlohmann::json;
using weft_test::ContainsSubstring;

TEST_CASE("noise is measured of every cpu, and the quietest named") {
  const weft_test::outcome done = weft_test::run({"noise", "--duration", "20", "--json"});
  CAPTURE(done.error);
  REQUIRE(done.status == 0);
  const json object = json::parse(done.output);
  weft::topology::cpu_set measured;
  double least = 1;
  for (const json& each : object.at("cpus")) {
    measured.insert(each.at("cpu").get<int>());
    least = std::min(least, each.at("share_lost").get<double>());
    CHECK(each.at("quanta") > 0);
    CHECK(each.at("quantum_us") > 1);
    CHECK(each.at("detours_per_s") >= 0);
  }
  CHECK(measured == weft::topology::this_thread_binding());
  for (const json& each : object.at("cpus"))
    if (each.at("cpu") == object.at("quietest")) CHECK(each.at("share_lost") == least);
  CHECK_THAT(weft_test::run({"noise", "--duration", "5", "--cpus", std::to_string(measured.first())}).output,
             ContainsSubstring("quietest: cpu " + std::to_string(measured.first())));
}

TEST_CASE("bad arguments of a measurement of noise are named") {
  const auto refusal = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "noise");
    const weft_test::outcome refused = weft_test::run(arguments);
    CHECK(refused.status != 0);
    CHECK(refused.output.empty());
    return refused.error;
  };
  CHECK_THAT(refusal({"--cpus", "60000"}), ContainsSubstring("are not all among the cpus"));
  CHECK_THAT(refusal({"--cpus", "0-x"}), ContainsSubstring("0-x"));
  CHECK_THAT(refusal({"--duration", "0"}), ContainsSubstring("is not a whole number from 1"));
  CHECK_THAT(refusal({"--duration", "1", "--quantum", "2000"}), ContainsSubstring("no shorter than a piece"));
}
