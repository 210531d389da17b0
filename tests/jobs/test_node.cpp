// SPDX-License-Identifier: Apache-2.0
// Processes of one node, and what their system does not let them share.
#include <sys/resource.h>

#include <chrono>
#include <filesystem>

#include "catch.hpp"
#include "setting.hpp"
#include "tools/launcher_under_test.hpp"

using namespace std::chrono_literals;
using namespace weft_test;

namespace {

std::vector<std::string> job(int ranks, const std::string& what) {
  return {"run", "-n", std::to_string(ranks), "--oversubscribe", "--timeout", seconds_of_a_job, "PROGRAM", what};
}

}  // namespace

TEST_CASE("where no process may read another's memory, long vectors go through what they share", "[node]") {
  const outcome ended = run(job(3, "unread"));
  INFO(ended.error);
  CHECK(ended.status == 0);
  CHECK(ended.output == "right\n");
}

TEST_CASE("64 processes of one node that all talk to each other share less than 64 MiB", "[node]") {
  const int ranks = emulated ? 16 : 64;
  const outcome ended = run(job(ranks, "hold"));
  INFO(ended.error);
  REQUIRE(ended.status == 0);
  const auto bytes = std::stoull(ended.output);
  CHECK(bytes > static_cast<std::size_t>(ranks) * (ranks - 1) * 4096);  // a page of every ring
  CHECK(bytes < 64 << 20);
}

TEST_CASE("without memory to share a job goes on, and says so once", "[node]") {
  rlimit before{}, lower{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  lower = before;
  lower.rlim_cur = 1 << 20;
  ::setrlimit(RLIMIT_FSIZE, &lower);  // for the job
  const outcome ended = run(job(3, "unread"));
  ::setrlimit(RLIMIT_FSIZE, &before);
  INFO(ended.error);
  CHECK(ended.status == 0);
  CHECK(ended.output == "right\n");
  const auto said = ended.error.find("share no memory");
  CHECK(said != std::string::npos);
  CHECK(ended.error.find("share no memory", said + 1) == std::string::npos);
}

TEST_CASE("ranks of several processes use each other's memory, by every road", "[node]") {
  for (const std::vector<std::string>& road : {std::vector<std::string>{},
                                               {"-x", "WEFT_NODE=off"},
                                               {"--ranks-per-process", "2", "-x", "WEFT_NODE=off"},
                                               {"-x", "WEFT_NODE=off", "--progress", "thread"}}) {
    auto words = job(4, "windows");
    words.insert(words.begin() + 1, road.begin(), road.end());
    const outcome ended = run(words);
    INFO(ended.error);
    CHECK(ended.status == 0);
    CHECK(ended.output == "right\n");
  }
}

TEST_CASE("who waits in a window for a process that is killed is told", "[node]") {
  const std::string waits = GENERATE("note", "lock", "flush", "fence");
  for (const auto& [node, progress] :
       {std::pair("WEFT_NODE=on", "caller"), {"WEFT_NODE=off", "caller"}, {"WEFT_NODE=off", "thread"}}) {
    auto words = job(3, "windows");
    words.push_back(waits);
    words.insert(words.begin() + 1, {"--on-failure", "continue", "--progress", progress, "-x", node});
    const outcome ended = run(words);
    INFO(waits << ", " << node << ", " << progress << ": " << ended.error);
    CHECK(ended.status == 137);
    CHECK(ended.output.find("0 has lost 1\n") != std::string::npos);
    CHECK(ended.output.find("2 has lost 1\n") != std::string::npos);
  }
}
