// SPDX-License-Identifier: Apache-2.0
// `weft noise`.
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>
#include <weft/topology/affinity.hpp>

#include "catch.hpp"
#include "launcher_under_test.hpp"
#include "temporary_file.hpp"

using nlohmann::json;
using weft_test::Approx;
using weft_test::ContainsSubstring;
using weft_test::temporary_file;

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

TEST_CASE("what is recorded is what was measured, and can be simulated") {
  const temporary_file trace;
  const std::string cpu = std::to_string(weft::topology::this_thread_binding().first());
  const weft_test::outcome done =
      weft_test::run({"noise", "--duration", "200", "--cpus", cpu, "--record", trace.path(), "--json"});
  CAPTURE(done.error);
  REQUIRE(done.status == 0);
  const json measured = json::parse(done.output).at("cpus").at(0);
  std::istringstream lines(trace.text());
  std::string line;
  std::int64_t detours = 0;
  double begin = 0, duration = 0, taken = 0, longest = 0;
  while (std::getline(lines, line)) {
    if (line.front() == '#') continue;
    REQUIRE(std::sscanf(line.c_str(), "%lf\t%lf", &begin, &duration) == 2);  // as LogGOPSim reads it
    detours += duration > 0 ? 1 : 0;
    taken += duration;
    longest = std::max(longest, duration);
  }
  CHECK(detours == measured.at("detours"));
  CHECK(begin + duration == Approx(1e9 * measured.at("seconds").get<double>()).margin(2));
  CHECK(longest == Approx(1e3 * measured.at("longest_detour_us").get<double>()).margin(1));
  const double work = 1e10;
  const temporary_file goal("num_ranks 1\nrank 0 {\ncalc 10000000000\n}\n");
  const weft_test::outcome timed = weft_test::run({"sim", "--goal", goal.path(), "--noise", trace.path(), "--json"});
  CAPTURE(timed.error);
  REQUIRE(timed.status == 0);
  const double share = taken / (begin + duration);
  CHECK(json::parse(timed.output).at("completion").get<double>() == Approx(work / (1 - share)).epsilon(0.1));
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
  CHECK_THAT(refusal({"--duration", "5", "--record", "/no/such/folder/x"}), ContainsSubstring("cannot be written"));
  CHECK_THAT(refusal({"--make", "1000:200", "--record", "x"}), ContainsSubstring("not with --make"));
}
