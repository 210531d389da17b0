// SPDX-License-Identifier: Apache-2.0
// `weft tune`, and what follows from what it writes.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>
#include <weft/choice/tuning.hpp>
#include <weft/fabric/provider.hpp>
#include <weft/schedules/selection.hpp>

#include "catch.hpp"
#include "launcher_under_test.hpp"

using nlohmann::json;
using weft::schedules::road;
using weft_test::ContainsSubstring;
using weft_test::outcome;
using words = std::vector<std::string>;

namespace {

/// A folder that goes with its end.
class temporary_folder {
 public:
  temporary_folder()
      : path_(std::filesystem::temp_directory_path() / ("weft-test-tune-" + std::to_string(::getpid()))) {
    std::filesystem::create_directory(path_);
  }
  ~temporary_folder() { std::filesystem::remove_all(path_); }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::filesystem::path path_;
};

outcome succeed(const words& arguments) {
  outcome done = weft_test::run(arguments);
  CAPTURE(arguments, done.error, done.output);
  CHECK(done.status == 0);
  return done;
}

std::vector<json> objects(const std::string& text) {
  std::vector<json> all;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) all.push_back(json::parse(line));
  return all;
}

}  // namespace

TEST_CASE("what tune writes is read by plan, bench and jobs, which choose alike") {
  const temporary_folder folder;
  const std::string file = folder.file("costs");
  std::ofstream(file) << "the old ones";
  const outcome tuned = succeed({"tune", "-n", "2", "--budget", "30", "--output", file});
  CHECK_THAT(tuned.output, ContainsSubstring("node"));
  CHECK_THAT(tuned.output, ContainsSubstring("written to " + file));
  CHECK(folder.files() == 1);
  const auto measured = weft::detail::read_tuning(file);
  REQUIRE(measured.machine[road::node].has_value());
  CHECK(measured.machine[road::node]->latency + measured.machine[road::node]->overhead > 0);
  CHECK_FALSE(measured.machine[road::fabric].has_value());

  const outcome planned = succeed(
      {"plan", "allreduce", "--ranks", "2", "--bytes", "4096", "--explain", "--tuning", file, "--format", "json"});
  const json explanation = json::parse(planned.output);
  const outcome benched = succeed({"bench", "allreduce", "-n", "2", "-b", "4096", "-e", "4096", "--budget", "2",
                                   "--json", "--persistent", "--weft-tune=" + file});
  CHECK(objects(benched.output).at(0).at("algorithm") == explanation.at("chosen"));
}

TEST_CASE("without a file the costs go to the standard output, and nothing else") {
  const outcome done = succeed({"tune", "-n", "2", "--ranks-per-process", "2", "--budget", "10"});
  const auto measured = weft::detail::parse_tuning(done.output, "the output");
  CHECK(measured.machine[road::memory].has_value());
  CHECK_FALSE(measured.machine[road::node].has_value());
}

TEST_CASE("a tune that fails leaves the old file as it was") {
  const temporary_folder folder;
  const std::string file = folder.file("costs");
  std::ofstream(file) << "the old ones";
  const outcome alone = weft_test::run({"tune", "-n", "1", "--budget", "1", "--output", file});
  CHECK(alone.status != 0);
  CHECK_THAT(alone.error, ContainsSubstring("-n 2 or more"));
  std::ifstream in(file);
  std::string text;
  std::getline(in, text);
  CHECK(text == "the old ones");
  CHECK(folder.files() == 1);
  const outcome nowhere = weft_test::run({"tune", "-n", "2", "--budget", "1", "--output", folder.file("none/costs")});
  CHECK(nowhere.status != 0);
  CHECK_THAT(nowhere.error, ContainsSubstring("cannot be written"));
}

TEST_CASE("a bench explains: every algorithm that may be chosen, what it takes and what was predicted") {
  const outcome done = succeed({"bench", "allreduce", "-n", "2", "-b", "8", "-e", "65536", "-f", "8192", "--budget",
                                "2", "--json", "--explain"});
  const auto all = objects(done.output);
  const auto each = all.size() / 2;
  const auto messages = static_cast<std::size_t>(
      std::ranges::count_if(weft::schedules::algorithms_of(weft::schedules::collective::allreduce),
                            [](const auto& how) { return weft::schedules::may_be_chosen(how, {}); }));
  const bool measures = std::thread::hardware_concurrency() > 1;  // patterns, where each process has a core
  if (measures) CHECK(each >= messages + 2);
  CHECK(each >= messages);
  for (std::size_t size = 0; size < 2; ++size) {
    int chosen = 0;
    double before = 0;
    for (std::size_t i = 0; i < each; ++i) {
      const json& one = all[size * each + i];
      CHECK(one.at("wrong") == 0);
      CHECK(one.at("predicted_us").get<double>() >= before);
      before = one.at("predicted_us");
      chosen += one.at("chosen").get<bool>() ? 1 : 0;
    }
    CHECK(chosen == (measures ? 1 : 0));
    if (measures) CHECK(std::ranges::any_of(all, [](const json& one) { return one.at("algorithm") == "at-once"; }));
  }
}

TEST_CASE("malformed costs end a job before it starts") {
  const temporary_folder folder;
  const std::string file = folder.file("costs");
  std::ofstream(file) << "node.latency = 1e-6\nnode.gap = soon\n";
  const outcome done = weft_test::run({"bench", "barrier", "-n", "2", "--weft-tune=" + file});
  CHECK(done.status != 0);
  CHECK_THAT(done.error, ContainsSubstring(file + ":2: \"soon\" is not a time"));
}
