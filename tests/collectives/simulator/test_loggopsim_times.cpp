// SPDX-License-Identifier: Apache-2.0
// GOAL files, and what LogGOPSim says of each by several parameters.
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <unordered_map>
#include <weft/simulator/goal.hpp>
#include <weft/simulator/loggopsim.hpp>

#include "catch.hpp"

using namespace weft::simulator;

namespace {

const std::filesystem::path folder = WEFT_LOGGOPSIM;

workload goal_of(const std::string& file) {
  std::ifstream in(folder / file);
  std::ostringstream text;
  text << in.rdbuf();
  return parse_goal(text.str());
}

}  // namespace

TEST_CASE("GOAL files take what LogGOPSim says of them") {
  std::ifstream times(folder / "times.jsonl");
  std::unordered_map<std::string, workload> files;
  std::size_t cases = 0;
  for (std::string line; std::getline(times, line); ++cases) {
    CAPTURE(line);
    const auto said = nlohmann::json::parse(line);
    const std::string file = said.at("file");
    const auto known = files.contains(file) ? files.find(file) : files.emplace(file, goal_of(file)).first;
    machine_model model;
    model.latency = said.at("L");
    model.overhead = said.at("o");
    model.gap = said.at("g");
    model.gap_per_byte = said.at("G");
    model.overhead_per_byte = said.at("O");
    model.eager_limit = said.at("S");
    CHECK(simulate_as_loggopsim(known->second, model).completion == said.at("completion_ns"));
  }
  CHECK(cases > 0);
}
