// SPDX-License-Identifier: Apache-2.0
#include <random>
#include <weft/schedules/builders.hpp>
#include <weft/schedules/regular_trees.hpp>
#include <weft/simulator/goal.hpp>

#include "catch.hpp"
#include "jobs.hpp"
#include "seed.hpp"

using namespace weft::simulator;
using namespace weft_test;

namespace {

workload ring(int ranks, std::size_t bytes, std::uint32_t segments) {
  const weft::schedules::ring around{ranks, {}, {segments, 3}};
  return workload_of(ranks, bytes, 1,
                     [&](int rank, weft::schedules::sink& to) { weft::schedules::ring_allreduce(around, rank, to); });
}

machine_model some_machine() {
  machine_model m;
  m.latency = 2500;
  m.overhead = 1500;
  m.gap = 1000;
  m.gap_per_byte = 6;
  m.compute_per_byte = 2;
  m.eager_limit = 64;
  return m;
}

std::string refusal(const std::string& text) {
  try {
    parse_goal(text);
  } catch (const std::invalid_argument& failure) {
    return failure.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a reduction as GOAL") {
  CHECK(to_goal(reduction(weft::schedules::binomial_tree(2, 0), 64), 0.5) ==
        "num_ranks 2\n"
        "\n"
        "rank 0 {\n"
        "l0: recv 64b from 1 tag 0\n"
        "l1: calc 32\n"
        "l1 requires l0\n"
        "}\n"
        "\n"
        "rank 1 {\n"
        "l0: send 64b to 0 tag 0\n"
        "}\n");
}

TEST_CASE("what is written and read again takes the same time") {
  const auto seed = test_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int trial = 0; trial < 40; ++trial) {
    const int ranks = std::uniform_int_distribution(2, 20)(random);
    const auto segments = std::uniform_int_distribution<std::uint32_t>(1, 4)(random);
    const workload all = trial % 2 == 0 ? ring(ranks, 1024, segments)
                                        : reduction(weft::schedules::binomial_tree(ranks, 0), 1024, {segments, 2});
    const machine_model m = some_machine();
    const workload read = parse_goal(to_goal(all, m.compute_per_byte));
    CHECK(read.steps() == all.steps());
    const simulation first = simulate(all, m), again = simulate(read, m);
    CHECK(first.completion == again.completion);
    CHECK(first.messages == again.messages);
    for (std::size_t rank = 0; rank < first.ranks.size(); ++rank)
      CHECK(first.ranks[rank].finish == again.ranks[rank].finish);
    CHECK(to_goal(parse_goal(to_goal(read, 0)), 0) == to_goal(read, 0));
  }
}

TEST_CASE("all that the grammar has is read") {
  const workload all = parse_goal(
      "// a comment\n"
      "/* another,\n of two lines */ num_ranks 2\r\n"
      "rank 0 {\n"
      "  calc 100 cpu 1 // as long as that\n"
      "/* between */ calc 2\n"
      "}\n"
      "rank 1 {\n"
      "}\n");
  CHECK(all.steps() == 2);
  CHECK(all.cpus() == 2);
}

TEST_CASE("labels, tags, CPUs, interfaces and both kinds of dependencies are read") {
  const workload all = parse_goal(
      "num_ranks 2\n"
      "rank 0 {\n"
      "first: calc 100 cpu 1\n"
      "l2: send 10b to 1 tag 7 cpu 0 nic 1\n"
      "l2 irequires first\n"
      "calc 5\n"
      "}\n"
      "rank 1 { l1: recv 10b from 0 tag 7 nic 2\n"
      "l2: calc 50\n"
      "l2 requires l1\n"
      "}");
  CHECK(all.ranks() == 2);
  CHECK(all.cpus() == 2);
  CHECK(all.nics() == 3);
  CHECK(all.describe(0, 1).tag == 7);
  CHECK(all.describe(0, 1).nic == 1);
  machine_model m;
  m.latency = 1000;
  // The send begins with the first calculation, on another CPU; the calculation on its own CPU is done meanwhile.
  CHECK(simulate(all, m).completion == 1050);
  CHECK(simulate(all, m).ranks[0].finish == 100);
  CHECK(to_goal(all, 0).find("l1 irequires l0") != std::string::npos);
}

TEST_CASE("a step may require one that comes after it in the text") {
  const workload all = parse_goal("num_ranks 1\nrank 0 {\na: calc 1\nb: calc 10\na requires b\n}\n");
  CHECK(all.describe(0, 0).amount == 10);
  CHECK(completion(all, {}) == 11);
}

TEST_CASE("an error names its line and what is right") {
  CHECK(refusal("") == "GOAL, line 1: expected num_ranks, but the text ends");
  CHECK(refusal("num_ranks 0\n") == "GOAL, line 1: expected the number of ranks, but there is \"0\"");
  CHECK(refusal("num_ranks 1\nrank 1 {\n}") ==
        "GOAL, line 2: expected 0, for ranks come in their order, but there is \"1\"");
  const auto statement = [](const std::string& text) { return refusal("num_ranks 1\nrank 0 {\n" + text + "\n}\n"); };
  CHECK(statement("l1: put 8b to 0") == "GOAL, line 3: expected send, recv or calc, but there is \"put\"");
  CHECK(statement("l1: send 8 to 0") == "GOAL, line 3: expected b, but there is \"to\"");
  CHECK(statement("l1: send 8b from 0") == "GOAL, line 3: expected to, but there is \"from\"");
  CHECK(statement("l1: recv 8b from -1") == "GOAL, line 3: expected a rank, but there is \"-1\"");
  CHECK(statement("l1: recv 8b from 0 tag -1") == "GOAL, line 3: expected a tag, but there is \"-1\"");
  CHECK(statement("l1: calc") == "GOAL, line 3: expected a time in nanoseconds, but the line ends");
  CHECK(statement("l1: calc 99999999999999999999") ==
        "GOAL, line 3: expected a time in nanoseconds, but there is \"99999999999999999999\"");
  CHECK(statement("l1: calc 5 6") == "GOAL, line 3: expected the end of the line, but there is \"6\"");
  CHECK(statement("l1 calc 5") == "GOAL, line 3: expected :, requires or irequires, but there is \"calc\"");
  CHECK(statement("l1: calc 5\nl1: calc 6") == "GOAL, line 4: the label l1 is there twice in this rank");
  CHECK(statement("l1: calc 5\nl1 requires l2") == "GOAL, line 4: there is no label l2 before it in this rank");
  CHECK(statement("?") == "GOAL, line 3: expected a step, a label or }, but there is \"?\"");
  CHECK(refusal("num_ranks 1\nrank 0 {\n") == "GOAL, line 3: expected a step, a label or }, but the text ends");
  CHECK(refusal("num_ranks 1\nrank 0 {\n}\nrank 1 {\n}") ==
        "GOAL, line 4: expected the end of the text, after rank 0, but there is \"rank\"");
  CHECK(refusal("num_ranks 1\n/* no end") == "GOAL, line 2: the comment has no end");
}

TEST_CASE("steps that require one another in a circle are an error, not a hang") {
  CHECK_THAT(refusal("num_ranks 1\nrank 0 {\na: calc 1\nb: calc 1\nc: calc 1\na requires b\nc requires a\n"
                     "b irequires a\n}\n"),
             ContainsSubstring("steps of rank 0 require one another in a circle"));
  CHECK_THAT(refusal("num_ranks 1\nrank 0 {\na: calc 1\na requires a\n}\n"), ContainsSubstring("line 4"));
}

TEST_CASE("messages that nobody receives are an error") {
  CHECK_THAT(refusal("num_ranks 2\nrank 0 {\nsend 8b to 1 tag 3\n}\nrank 1 {\nrecv 8b from 0 tag 4\n}\n"),
             ContainsSubstring("rank 0, step 0 (send of 8 bytes to rank 1, tag 3): nothing receives it"));
}

TEST_CASE("no text makes the parser do anything but parse or refuse") {
  const auto seed = test_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const std::string good = to_goal(ring(3, 64, 1), 1);
  for (int trial = 0; trial < 3000; ++trial) {
    std::string text = good;
    for (int i = 0; i < 3; ++i) {
      const std::size_t at = std::uniform_int_distribution<std::size_t>(0, text.size() - 1)(random);
      switch (std::uniform_int_distribution(0, 2)(random)) {
        case 0:
          text.erase(at, std::uniform_int_distribution<std::size_t>(1, 20)(random));
          break;
        case 1:
          text.insert(at, text.substr(text.size() - at - 1, 10));
          break;
        default:
          text[at] = static_cast<char>(std::uniform_int_distribution(0, 255)(random));
      }
      if (text.empty()) text = " ";
    }
    try {
      simulate(parse_goal(text), some_machine());
    } catch (const std::invalid_argument&) {
    } catch (const deadlock&) {
    }
  }
}
