// SPDX-License-Identifier: Apache-2.0
// What `weft run --statistics` prints.
#include <sstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "launcher_under_test.hpp"

using weft_test::ContainsSubstring;

namespace {

/// The line that begins so, with single blanks.
std::string line_of(const std::string& text, const std::string& begin) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string plain;
    for (std::string word; words >> word;) plain += (plain.empty() ? "" : " ") + word;
    if (plain.starts_with(begin)) return plain;
  }
  return {};
}

weft_test::outcome run_with(std::vector<std::string> options, const std::vector<std::string>& words) {
  options.insert(options.begin(), {"run", "--oversubscribe", "-x", "WEFT_TUNE=off"});
  options.emplace_back("PROGRAM");
  options.insert(options.end(), words.begin(), words.end());
  return weft_test::run(options);
}

}  // namespace

TEST_CASE("the whole job's statistics are told once, at its end") {
  const auto ended = run_with({"-n", "3", "--statistics"}, {"none", "0"});
  CHECK(ended.status == 0);
  CHECK(ended.error.starts_with("weft: statistics of 3 of 3 processes\n"));
  CHECK(ended.error.find("weft: statistics", 1) == std::string::npos);
  CHECK(line_of(ended.error, "total") == "total least most");
  CHECK(line_of(ended.error, "allreduce in node memory, calls") ==
        "allreduce in node memory, calls 2526 842 (rank 0) 842 (rank 0)");
  CHECK_THAT(line_of(ended.error, "allreduce in node memory, bytes"),
             ContainsSubstring(" 19.7 KiB 6.58 KiB (rank 0) 6.58 KiB (rank 0)"));
}

TEST_CASE("ranks of a process are told of together, and their road is its own memory") {
  const auto ended = run_with({"-n", "4", "--ranks-per-process", "2", "--workers", "1", "--statistics"}, {"none", "0"});
  CHECK(ended.status == 0);
  CHECK(line_of(ended.error, "allreduce in process memory, calls") ==
        "allreduce in process memory, calls 3368 1684 (ranks 0-1) 1684 (ranks 0-1)");
}

TEST_CASE("a job of one process is told of, too") {
  const auto ended = run_with({"-n", "2", "--ranks-per-process", "2", "--statistics"}, {"none", "0"});
  CHECK(ended.status == 0);
  CHECK(ended.error.starts_with("weft: statistics of 1 of 1 process\n"));
  CHECK(line_of(ended.error, "allreduce in process memory, calls") ==
        "allreduce in process memory, calls 1684 1684 (ranks 0-1) 1684 (ranks 0-1)");
}

TEST_CASE("messages over a provider have their own lines") {
  const auto ended = run_with({"-n", "2", "-x", "WEFT_NODE=off", "-x", "WEFT_STATISTICS=on"}, {"none", "0"});
  CHECK(ended.status == 0);
  CHECK(line_of(ended.error, "allreduce by messages, calls") ==
        "allreduce by messages, calls 1684 842 (rank 0) 842 (rank 0)");
  CHECK_FALSE(line_of(ended.error, "sent by network at once, messages").empty());
  CHECK(line_of(ended.error, "sent by node memory").empty());
}

TEST_CASE("who was lost is left out and named, be it the first process") {
  const std::string who = GENERATE("0", "1", "2");
  const auto ended = run_with({"-n", "3", "--statistics", "--on-failure", "continue"}, {"die", who});
  CHECK_THAT(
      ended.error,
      ContainsSubstring("weft: statistics of 2 of 3 processes, without those that were lost: rank " + who + "\n"));
}

TEST_CASE("nothing is told of a job that does not ask for it") {
  const auto ended = run_with({"-n", "2"}, {"none", "0"});
  CHECK(ended.status == 0);
  CHECK(ended.error.empty());
}
