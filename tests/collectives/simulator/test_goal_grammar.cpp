// SPDX-License-Identifier: Apache-2.0
// What is exported against the grammar of LogGOPSim's txt2bin, written down here once more and not by our own parser,
// and what LogGOPSim says of an example of its own.
#include <regex>
#include <set>
#include <sstream>
#include <weft/schedules/algorithms.hpp>
#include <weft/schedules/builders.hpp>
#include <weft/simulator/goal.hpp>

#include "catch.hpp"
#include "jobs.hpp"

using namespace weft::simulator;

namespace {

// Of txt2bin: a blank is needed nowhere but for names to end, a number is digits alone, and of the clauses behind an
// operation each comes at most once and in this order.
const std::string peer_and_tag = R"([0-9]+( tag [0-9]+)?( cpu [0-9]+)?( nic [0-9]+)?)";
const std::regex operation("([a-z][a-z0-9_]*): (send [0-9]+b to " + peer_and_tag + "|recv [0-9]+b from " +
                           peer_and_tag + "|calc [0-9]+( cpu [0-9]+)?)");
const std::regex order("([a-z][a-z0-9_]*) i?requires ([a-z][a-z0-9_]*)");

/// Why txt2bin would refuse the text, or "". It reads ranks until it has seen the last one, and looks labels up as it
/// meets them: both must have been defined before.
std::string refusal_of(const std::string& text, int ranks) {
  std::istringstream lines(text);
  std::string line;
  if (!std::getline(lines, line) || line != "num_ranks " + std::to_string(ranks)) return "begins with " + line;
  for (int rank = 0; rank < ranks; ++rank) {
    while (std::getline(lines, line) && line.empty()) {
    }
    if (line != "rank " + std::to_string(rank) + " {") return "not rank " + std::to_string(rank) + ": " + line;
    std::set<std::string> labels;
    while (std::getline(lines, line) && line != "}") {
      std::smatch parts;
      if (std::regex_match(line, parts, operation)) {
        if (!labels.insert(parts[1]).second) return "twice: " + line;
      } else if (!std::regex_match(line, parts, order)) {
        return "neither operation nor order: " + line;
      } else if (labels.count(parts[1]) == 0 || labels.count(parts[2]) == 0) {
        return "not defined yet: " + line;
      }
    }
    if (line != "}") return "rank " + std::to_string(rank) + " has no end";
  }
  return std::getline(lines, line) ? "more after the last rank: " + line : "";
}

}  // namespace

TEST_CASE("LogGOPSim's grammar has what is exported of every algorithm") {
  for (const weft::schedules::algorithm& how : weft::schedules::algorithms())
    for (const int ranks : {1, 2, 3, 8, 9}) {
      CAPTURE(name(how.kind), how.name, ranks);
      weft::schedules::algorithm_arguments shape;
      shape.ranks = ranks;
      if ((how.parameters & weft::schedules::takes::segments) != 0) shape.by.segments = 2;
      const workload all = workload_of(ranks, 1000, 1, [&](int rank, weft::schedules::sink& to) {
        shape.rank = rank;
        how.emit(shape, to);
      });
      REQUIRE(refusal_of(to_goal(all, 0.3), ranks) == "");
    }
  CHECK(refusal_of("num_ranks 1\n\nrank 0 {\nl0: calc 1\nl0 requires l1\n}\n", 1) == "not defined yet: l0 requires l1");
  CHECK(refusal_of("num_ranks 1\n\nrank 0 {\nl0: send 8 to 0\n}\n", 1) != "");
}

TEST_CASE("LogGOPSim's dissemination among 16 ranks ends when its README says") {
  const workload all = parse_goal(to_goal(
      workload_of(16, 0, 1,
                  [](int rank, weft::schedules::sink& to) { weft::schedules::dissemination_barrier(16, rank, to); }),
      0));
  CHECK(all.steps() == 128);
  machine_model model;  // its defaults; of a message's G it counts the bytes after the first one, and here is but one
  model.latency = 2500;
  model.overhead = 1500;
  model.gap = 1000;
  const simulation done = simulate(all, model);
  CHECK(done.completion == 22000);
  for (const auto& rank : done.ranks) CHECK(rank.finish == 22000);
}
