// SPDX-License-Identifier: Apache-2.0
// `weft bench kernels` from outside, as far as the caches go: that it measures all that it names, not how fast that is.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "launcher_under_test.hpp"
#include "tools/bench/kernels.hpp"

using weft_test::ContainsSubstring;
using weft_test::outcome;

namespace {

using words = std::vector<std::string>;

const words kernels{"sum of float",
                    "sum of double",
                    "sum of bfloat16",
                    "sum of float16",
                    "min_location of located_float",
                    "max_location of located_double",
                    "sum of reproducible_float",
                    "sum of reproducible_double",
                    "4 floats, 3 calls",
                    "reproducible add, float, 2 bins",
                    "reproducible add, float, 3 bins",
                    "reproducible add, double, 2 bins",
                    "reproducible add, double, 3 bins"};

const std::set<std::string> places{"L1", "L2", "24 MiB", "30 MiB"};

outcome bench_kernels(words arguments) {
  arguments.insert(arguments.begin(), {"bench", "kernels"});
  return weft_test::run(arguments);
}

/// How many there are that are no larger.
std::size_t sets_up_to(std::size_t bytes) {
  const auto all = weft::tools::working_sets();
  return static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [&](const auto& each) { return each.bytes <= bytes; }));
}

}  // namespace

TEST_CASE("there are working sets for all caches and for memory") {
  const auto sets = weft::tools::working_sets();
  REQUIRE(sets.size() == 5);
  for (std::size_t i = 1; i < sets.size(); ++i) CHECK(sets[i - 1].bytes < sets[i].bytes);
  CHECK(sets[2].bytes == std::size_t{24} << 20);
  CHECK(sets[3].bytes == std::size_t{30} << 20);
  CHECK(sets[4].bytes == std::size_t{2} << 30);
}

TEST_CASE("arrays share their working set whatever the size of a cache") {
  for (const std::size_t first : {8u, 16u, 32u, 48u, 64u, 128u})
    for (const std::size_t arrays : {1u, 3u, 5u})
      for (const auto& set : weft::tools::working_sets_beside(first << 10, 512 << 10)) {
        const std::size_t each = weft::tools::bytes_each(set.bytes, arrays);
        CAPTURE(first, arrays, set.where, each);
        CHECK(each % 64 == 0);
        CHECK(each * arrays <= set.bytes);
        CHECK(each * arrays >= set.bytes * 9 / 10);
      }
  CHECK(weft::tools::working_sets_beside(32 << 10, 512 << 10)[0].bytes == 16 << 10);
}

TEST_CASE("every kernel has a line of figures for every working set in the range") {
  const outcome done = bench_kernels({"-e", "64M", "--json"});
  INFO(done.error);
  REQUIRE(done.status == 0);
  std::multiset<std::string> seen;
  std::istringstream lines(done.output);
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    const auto object = nlohmann::json::parse(line);
    seen.insert(object.at("what").get<std::string>());
    CHECK(places.count(object.at("where").get<std::string>()) == 1);
    CHECK(object.at("bytes") <= 64 << 20);
    CHECK(object.at("gb_per_s") > 0);
    std::size_t ratios = 0;
    for (const char* ratio : {"of_loop", "of_copy", "of_float"})
      if (object.contains(ratio)) {
        CHECK(object.at(ratio) > 0);
        ++ratios;
      }
    CHECK(ratios > 0);
    CHECK(object.size() == 4 + ratios);
  }
  CHECK(seen.size() == kernels.size() * sets_up_to(64 << 20));
  for (const std::string& kernel : kernels) {
    CAPTURE(kernel);
    CHECK(seen.count(kernel) == sets_up_to(64 << 20));
  }
}

TEST_CASE("the table has the same lines, below each other") {
  const outcome done = bench_kernels({"-e", "8M"});
  CHECK(done.status == 0);
  std::istringstream lines(done.output);
  std::string line;
  REQUIRE(std::getline(lines, line));
  CHECK_THAT(line, ContainsSubstring("GB/s    of a loop    of a copy     of float"));
  const std::size_t where = line.find("where"), end = line.size();
  std::size_t count = 0;
  for (; std::getline(lines, line); ++count) {
    CAPTURE(line);
    CHECK(line.size() == end);
    CHECK(places.count(line.substr(where, line.find("  ", where) - where)) == 1);
  }
  CHECK(count == kernels.size() * sets_up_to(8 << 20));
}

TEST_CASE("options that kernels do not have are refused, and so are ranges without a working set") {
  const auto refusal = [](const words& arguments) {
    const outcome refused = bench_kernels(arguments);
    CAPTURE(arguments);
    CHECK(refused.status == 2);
    CHECK(refused.output.empty());
    return refused.error;
  };
  for (const words& option : {words{"--type", "double"},
                              {"--op", "min"},
                              {"--check"},
                              {"-n", "2"},
                              {"-f", "4"},
                              {"--budget", "5"},
                              {"--provider", "net"},
                              {"--algorithm", "ring"}}) {
    CAPTURE(option);
    CHECK_THAT(refusal(option), ContainsSubstring("take -b, -e and --json alone"));
  }
  CHECK_THAT(refusal({"-b", "4G"}), ContainsSubstring("none of the working sets of kernels is between: "));
  CHECK_THAT(refusal({"-e", "8"}), ContainsSubstring(", 2147483648"));
  CHECK_THAT(refusal({"-e", "x"}), ContainsSubstring("such as 8, 64k or 16M"));
  CHECK_THAT(refusal({"--no-such-option"}), ContainsSubstring("--no-such-option"));
  CHECK(bench_kernels({"--weft-segment=3"}).status == 1);
}
