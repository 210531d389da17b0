// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <weft/schedules/builders.hpp>
#include <weft/simulator/goal.hpp>
#include <weft/simulator/loggopsim.hpp>

#include "catch.hpp"

using namespace weft::simulator;

namespace {

machine_model model_of(double latency, double overhead, double gap, double gap_per_byte, double overhead_per_byte) {
  machine_model model;
  model.latency = latency;
  model.overhead = overhead;
  model.gap = gap;
  model.gap_per_byte = gap_per_byte;
  model.overhead_per_byte = overhead_per_byte;
  return model;
}

double completion(const std::string& goal, const machine_model& model) {
  return simulate_as_loggopsim(parse_goal(goal), model).completion;
}

const std::string pair = "num_ranks 2\nrank 0 {\nl0: send 101b to 1\n}\nrank 1 {\nl0: recv 101b from 0\n}\n";

}  // namespace

TEST_CASE("one message takes the bytes after its first one, at its receiver's CPU") {
  CHECK(completion(pair, model_of(1000, 300, 200, 0, 0)) == 1600);
  CHECK(completion(pair, model_of(1000, 300, 200, 6, 0)) == 2200);
  CHECK(completion(pair, model_of(1000, 300, 200, 6, 2)) == 2200);
  CHECK(completion(pair, model_of(1000, 300, 200, 2, 6)) == 2200);
}

TEST_CASE("a message of no bytes counts one less than none") {
  const std::string empty = "num_ranks 2\nrank 0 {\nl0: send 0b to 1\n}\nrank 1 {\nl0: recv 0b from 0\n}\n";
  const simulation done = simulate_as_loggopsim(parse_goal(empty), model_of(1000, 2, 0, 0, 6));
  CHECK(done.ranks[1].finish == 1000 + 2 + 2 - 6);
  CHECK(done.ranks[1].busy == 2 - 6);
}

TEST_CASE("a long message leaves at once, and its send ends when it has come") {
  machine_model model = model_of(1000, 300, 0, 0, 0);
  const auto with_work_after = [](std::uint64_t before_receive) {
    return "num_ranks 2\nrank 0 {\nl0: send 101b to 1\nl1: calc 10\nl1 requires l0\n}\nrank 1 {\nl0: calc " +
           std::to_string(before_receive) + "\nl1: recv 101b from 0\nl1 requires l0\n}\n";
  };
  CHECK(completion(with_work_after(5000), model) == 5300);
  model.eager_limit = 100;
  const simulation late = simulate_as_loggopsim(parse_goal(with_work_after(5000)), model);
  CHECK(late.completion == 5300);
  CHECK(late.ranks[0].finish == 5010);
  CHECK(completion(with_work_after(0), model) == 1600);
}

TEST_CASE("messages of one tag meet receives as they come") {
  // The second send of the text goes first: the first receive gets it, and lets the calculation go.
  const std::string goal =
      "num_ranks 2\nrank 0 {\nl0: calc 1000 cpu 1\nl1: send 1b to 1\nl1 requires l0\nl2: send 1b to 1\n}\n"
      "rank 1 {\nl0: recv 1b from 0\nl1: recv 1b from 0\nl2: calc 7000\nl2 requires l0\nl1 requires l0\n}\n";
  CHECK(completion(goal, model_of(10, 0, 0, 0, 0)) == 7010);
}

TEST_CASE("what a schedule takes is what its GOAL takes") {
  const workload all = workload_of(7, 1000, 1, [](int rank, weft::schedules::sink& to) {
    weft::schedules::recursive_doubling_allreduce(7, rank, {}, to);
  });
  const machine_model model = model_of(1000, 300, 200, 3, 1);
  CHECK(simulate_as_loggopsim(all, model).completion == completion(to_goal(all, 0), model));
}

TEST_CASE("steps that wait for one another are named") {
  const std::string crossed =
      "num_ranks 2\nrank 0 {\nl0: send 9b to 1\nl1: recv 9b from 1\nl1 requires l0\n}\n"
      "rank 1 {\nl0: send 9b to 0\nl1: recv 9b from 0\nl1 requires l0\n}\n";
  machine_model model = model_of(10, 1, 1, 0, 0);
  CHECK(completion(crossed, model) == 12);
  model.eager_limit = 8;
  CHECK_THROWS_AS(completion(crossed, model), deadlock);
}

TEST_CASE("what LogGOPSim's model does not have is refused") {
  CHECK_THROWS_AS(completion(pair, model_of(0.5, 0, 0, 0, 0)), std::invalid_argument);
  CHECK_THROWS_AS(completion(pair, model_of(0, 0, 0, 2147483648, 0)), std::invalid_argument);
  machine_model model;
  model.ports = port_model::one;
  CHECK_THROWS_AS(completion(pair, model), std::invalid_argument);
  model = {};
  model.preposted = true;
  CHECK_THROWS_AS(completion(pair, model), std::invalid_argument);
  model = {};
  model.noise.period = 10;
  model.noise.duration = 1;
  CHECK_THROWS_AS(completion(pair, model), std::invalid_argument);
}
