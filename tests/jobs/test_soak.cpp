// SPDX-License-Identifier: Apache-2.0
// What a job holds does not grow with its traffic, which repeats itself every WEFT_TEST_SOAK_LAP rounds; 0: never.
// WEFT_TEST_SOAK=MINUTES goes on for so long over each road; WEFT_TEST_SEED is the seed.
#include <algorithm>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>
#include <weft/fabric/provider.hpp>

#include "catch.hpp"
#include "seed.hpp"
#include "setting.hpp"
#include "tools/launcher_under_test.hpp"

using namespace weft_test;
using words = std::vector<std::string>;

namespace {

/// KiB a minute that may be noise: what comes and goes is not at its least in every look, and of what libfabric's rxm
/// has taken for buffers at its start pages become resident one after another.
struct tolerance {
  double heap, anon, shared;
  double step;  ///< KiB that are resident once: malloc keeps a page of which a byte is in use, many after a burst
};

/// A cache of plans that is full from the start, and no cache of malloc's for each thread: it would count as given out
/// what is there, up to 240 KiB. And one arena for all threads: of the others what is free at their end is not given
/// back, and stays as much as it was at most.
const words exact_measure{"-x", "WEFT_PLAN_CACHE=256k", "-x",
                          "GLIBC_TUNABLES=glibc.malloc.tcache_count=0:glibc.malloc.arena_max=1"};

/// The number behind `name` in a line of a job.
double number_in(const std::string& line, const std::string& name) {
  return std::stod(line.substr(line.find(" " + name + " ") + name.size() + 2));
}

/// KiB that so many processes of a node share at most while no array is taken: of each what its heap keeps then beside
/// the long slots of 16 boards, the boards, and a ring to each.
double most_shared(int processes) { return processes * (64.0 + 16 * 0.5 + 1 + processes) * 1024; }

void soak_over(const std::string& provider, words shape) {
  const int minutes = setting("SOAK", 0);
  const std::string seconds = std::to_string(minutes == 0 ? 8 * slowdown : 60 * minutes);
  const tolerance most = minutes == 0 ? tolerance{3072, 16384, 4096, 4096} : tolerance{32, 256, 32, 0};
  const std::string seed = std::to_string(test_seed());
  words command{"run", "--oversubscribe", "--timeout", std::to_string(120 * minutes + 240)};
  for (const words& some : {road_options(provider), std::move(shape), minutes == 0 ? words{} : exact_measure})
    command.insert(command.end(), some.begin(), some.end());
  const std::string lap = std::to_string(setting("SOAK_LAP", 40));
  const std::string failures = minutes == 0 ? "1100" : "20000";
  command.insert(command.end(), {"PROGRAM", "soak", seconds, seed, lap, failures});
  const outcome ended = run(command);
  if (ended.status != 0 && ended.error.find("is not to be had here") != std::string::npos)
    skip("no provider " + provider);
  INFO("seed " << seed << " over " << provider << "\n" << ended.output << ended.error);
  REQUIRE(ended.status == 0);
  std::istringstream lines(ended.output);
  int processes = 0;
  double shared = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("process ")) shared = std::max(shared, number_in(line, "shared"));
    if (!line.starts_with("growth of process ")) continue;
    ++processes;
    std::printf("%s, seed %s: %s\n", provider.c_str(), seed.c_str(), line.c_str());
    CHECK(number_in(line, "heap") < most.heap);
    CHECK(number_in(line, "anon") < most.anon + most.step / number_in(line, "minutes"));
    CHECK(number_in(line, "shared") < most.shared);
    CHECK(number_in(line, "descriptors") == 0);
  }
  CHECK(processes >= 2);
  CHECK(shared <= most_shared(processes));
  std::fflush(stdout);
}

}  // namespace

TEST_CASE("a job over net, or tcp as it is called later, does not grow with its traffic", "[soak-net]") {
  soak_over(weft::fabric::default_provider(), {"-n", "4", "--ranks-per-process", "2"});
}
TEST_CASE("a job over rxm does not grow with its traffic", "[soak-rxm]") { soak_over("tcp;ofi_rxm", {"-n", "3"}); }
TEST_CASE("a job in the node's memory does not grow with its traffic", "[soak-node]") {
  soak_over("node", {"-n", "4", "--ranks-per-process", "2"});
}
