// SPDX-License-Identifier: Apache-2.0
// What takes memory has a bound, whatever a program asks for (abuse.cpp). WEFT_TEST_FLOOD says how many messages.
#include <cstdio>
#include <map>
#include <sstream>
#include <string>
#include <vector>
#include <weft/fabric/provider.hpp>

#include "catch.hpp"
#include "sanitized.hpp"
#include "setting.hpp"
#include "thorough.hpp"
#include "tools/launcher_under_test.hpp"

using namespace weft_test;
using words = std::vector<std::string>;

namespace {

/// "process 1 after", and the numbers behind that by their names.
using report = std::map<std::string, std::map<std::string, double>>;

report report_of(const std::string& output) {
  report all;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    const auto colon = line.find(": ");
    if (colon == std::string::npos) continue;
    std::istringstream rest(line.substr(colon + 2));
    std::string name;
    for (double value = 0; rest >> name >> value;) all[line.substr(0, colon)][name] = value;
  }
  return all;
}

/// KiB that each process may take more than before: at the peak, and of malloc in the end.
struct bound {
  double peak, after;
};

/// `count_of_one` where each process has a rank, `count_of_many` where it has several.
void abuse_over(const std::string& provider, const std::string& how, int count_of_one, int count_of_many, bound most) {
  for (const words& shape : {words{"-n", "2"}, words{"-n", "4", "--ranks-per-process", "2"}}) {
    const int count = shape.size() == 2 ? count_of_one : count_of_many;
    words command{"run", "--oversubscribe", "--timeout", "240"};
    for (const words& some : {road_options(provider), shape}) command.insert(command.end(), some.begin(), some.end());
    command.insert(command.end(), {"PROGRAM", "abuse", how, std::to_string(slowed ? count / 50 : count)});
    const outcome ended = run(command);
    INFO(how << " over " << provider << ", " << shape.size() << " options\n" << ended.output << ended.error);
    REQUIRE(ended.status == 0);
    report all = report_of(ended.output);
    for (int process = 0; process < 2; ++process) {
      const std::string name = "process " + std::to_string(process);
      auto &before = all.at(name + " before"), &peak = all.at(name + " peak"), &after = all.at(name + " after");
      const double held = before.at("anon") + before.at("shared") + before.at("file");
      std::printf("%s %d, %s, -n %s: %s took %.1f MiB in %.1f s, and keeps %.2f\n", how.c_str(), count,
                  provider.c_str(), shape[1].c_str(), name.c_str(), (peak.at("rss") - held) / 1024, peak.at("seconds"),
                  (after.at("heap") - before.at("heap")) / 1024);
      CHECK(after.at("descriptors") == before.at("descriptors"));
      if (sanitized) continue;  // which keep what is freed
      CHECK(peak.at("rss") - held < most.peak);
      CHECK(after.at("heap") - before.at("heap") < most.after);
    }
  }
  CHECK(left_behind().empty());
  std::fflush(stdout);
}

}  // namespace

TEST_CASE("messages to a rank that takes none fill no more than the limits of both sides", "[flood]") {
  const std::string provider = GENERATE(std::string("node"), weft::fabric::default_provider());
  abuse_over(provider, "flood", setting("FLOOD", 300'000), setting("FLOOD", 300'000), {96 << 10, 20 << 10});
}

TEST_CASE("a hundred thousand sends and receives of a rank at a time take memory only until they end",
          "[outstanding]") {
  const std::string provider = GENERATE(std::string("node"), weft::fabric::default_provider());
  abuse_over(provider, "outstanding", 100'000, 100'000, {192 << 10, 8 << 10});
}

// Of 30,000, too, a block of malloc's left by each would be beyond the bound.
TEST_CASE("a hundred thousand communicators that are made and freed leave nothing", "[divide-much]") {
  const std::string provider = GENERATE(std::string("node"), weft::fabric::default_provider());
  abuse_over(provider, "divide", 100'000, thorough() ? 100'000 : 30'000, {4 << 10, 512});
}
