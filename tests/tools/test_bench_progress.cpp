// SPDX-License-Identifier: Apache-2.0
// `weft bench overlap` and `consistency`: what they compute, and that they measure.
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <stdexcept>
#include <weft/fabric/provider.hpp>
#include <weft/noise/interference.hpp>

#include "catch.hpp"
#include "launcher_under_test.hpp"
#include "seed.hpp"
#include "tools/bench/consistency.hpp"

using namespace weft::tools;
using weft_test::ContainsSubstring;

namespace {

std::vector<nlohmann::json> progress_results(std::vector<std::string> arguments) {
  CAPTURE(arguments);
  arguments.insert(arguments.begin(), "bench");
  arguments.insert(arguments.end(), {"--json", "--budget", "2"});
  const weft_test::outcome done = weft_test::run(arguments);
  INFO(done.error);
  CHECK(done.status == 0);
  std::vector<nlohmann::json> objects;
  std::istringstream lines(done.output);
  for (std::string line; std::getline(lines, line);) objects.push_back(nlohmann::json::parse(line));
  return objects;
}

bool near(double a, double b) { return std::abs(a - b) < 1e-9; }

}  // namespace

TEST_CASE("statistics of a few times") {
  const time_statistics s = statistics_of({10.2, 10.4, 10.9, 14.4, 14.6, 100});
  CHECK(s.samples == 6);
  CHECK(near(s.mean, 160.5 / 6));
  CHECK(std::abs(s.deviation - 32.81) < 0.01);
  CHECK(near(s.mode, 10.5));
  CHECK(near(s.near_mode, 4.0 / 6));  // up to 14.5
  CHECK(near(s.p50, 14.4));
  CHECK(near(s.p99, 100));
  CHECK(near(s.max, 100));
}

TEST_CASE("statistics leave out the highest hundredth, in whatever order times come") {
  const auto seed = weft_test::test_seed();
  CAPTURE(seed);
  std::vector<double> us;
  for (int i = 0; i < 1000; ++i) us.push_back(i < 990 ? 7 : 1000);
  std::shuffle(us.begin(), us.end(), std::minstd_rand(static_cast<unsigned>(seed)));
  CHECK(statistics_of(us).max == 1000);
  CHECK(statistics_of(us).p99 == 1000);
  const time_statistics s = statistics_without_highest(us);
  CHECK(s.samples == 990);
  CHECK(s.max == 7);
  CHECK(s.deviation == 0);
  CHECK(s.near_mode == 1);
  CHECK(statistics_without_highest({5}).samples == 1);
}

TEST_CASE("noise is a period and a shorter duration") {
  CHECK(parse_noise("1000:200").period == std::chrono::microseconds(1000));
  CHECK(parse_noise("1000:200").duration == std::chrono::microseconds(200));
  for (const char* wrong :
       {"", "1000", ":", "1000:", ":200", "200:1000", "200:200", "1000:0", "-5:-9", "1000:200x", "1e3:1", "99999999:1"})
    CHECK_THROWS_WITH(parse_noise(wrong), ContainsSubstring("such as 1000:200"));
}

TEST_CASE("overlap is measured with progress by the caller and by a thread") {
  const auto lines = progress_results({"overlap", "-b", "64k", "-e", "128k", "--weft-node=off"});
  REQUIRE(lines.size() == 4);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    CAPTURE(i);
    CHECK(lines[i].at("progress") == (i < 2 ? "caller" : "thread"));
    CHECK(lines[i].at("road") == weft::fabric::default_provider());
    CHECK(lines[i].at("bytes") == (i % 2 == 0 ? 65536 : 131072));
    CHECK(lines[i].at("wrong") == 0);
    // Differences of times, which on a busy machine may be anything, but not less than nothing.
    for (const char* figure : {"overall_us", "compute_us", "communication_us", "overlap_percent"})
      CHECK(lines[i].at(figure) >= 0);
    CHECK((lines[i].at("thread_us") > 0) == (i >= 2));
    CHECK_THAT(lines[i].at("layout").get<std::string>(), ContainsSubstring("progress threads"));
  }
}

TEST_CASE("consistency is measured for 8 ranks in 2 processes") {
  const auto lines = progress_results({"consistency"});
  REQUIRE(lines.size() == 2);
  for (const auto& line : lines) {
    CHECK(line.at("ranks") == 8);
    CHECK(line.at("processes") == 2);
    CHECK(line.at("road") == "node");
    CHECK(line.at("wrong") == 0);
    for (const char* figure : {"completed", "returned"}) {
      const auto& all = line.at(figure).at("all");
      // A hundred, or as many as the budget has room for.
      const std::size_t samples = all.at("samples");
      CHECK(samples >= 100);
      CHECK(all.at("p50_us") <= all.at("p99_us"));
      CHECK(all.at("p99_us") <= all.at("max_us"));
      CHECK(line.at(figure).at("without_highest").at("samples") == samples - samples / 100);
    }
    CHECK(line.at("completed").at("all").at("p50_us") <= line.at("returned").at("all").at("p50_us"));
  }
}

TEST_CASE("noise is made where that is permitted, and refused with a reason elsewhere") {
  const weft_test::outcome done = weft_test::run(
      {"bench", "consistency", "--progress", "thread", "--noise", "10000:100", "--budget", "2", "--json"});
  if (done.status == 0)
    CHECK(nlohmann::json::parse(done.output).at("noise_period_us") == 10000);
  else
    CHECK_THAT(done.error, ContainsSubstring("CAP_SYS_NICE"));
  CHECK(weft_test::left_behind().empty());
  const weft_test::outcome wrong = weft_test::run({"bench", "allreduce", "--noise", "1000:200"});
  CHECK(wrong.status == 2);
  CHECK_THAT(wrong.error, ContainsSubstring("for consistency alone"));
}
