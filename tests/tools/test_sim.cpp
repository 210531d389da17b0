// SPDX-License-Identifier: Apache-2.0
// `weft sim`.
#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <weft/schedules/algorithms.hpp>

#include "catch.hpp"
#include "launcher_under_test.hpp"
#include "temporary_file.hpp"

using nlohmann::json;
using weft_test::Approx;
using weft_test::ContainsSubstring;
using weft_test::outcome;
using weft_test::temporary_file;

namespace {

outcome sim(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "sim");
  return weft_test::run(arguments);
}

json sim_json(std::vector<std::string> arguments) {
  arguments.push_back("--json");
  const outcome done = sim(arguments);
  CAPTURE(done.error);
  CHECK(done.status == 0);
  return json::parse(done.output);
}

}  // namespace

TEST_CASE("a reduction takes on one port what its plan says") {
  const json timed = sim_json({"reduce", "--ranks", "64", "--algorithm", "greedy", "--latency", "7",
                               "--compute-per-byte", "4", "--bytes", "1", "--ports", "one"});
  CHECK(timed.at("completion") == 58);
  CHECK(timed.at("messages") == 63);
  CHECK(timed.at("rank_times").size() == 64);
  const json& path = timed.at("critical_path");
  CHECK(path.at("transfer").get<int>() + path.at("compute").get<int>() + path.at("other").get<int>() == 58);
  const json planned = json::parse(
      weft_test::run({"plan", "reduce", "--ranks", "64", "--transfer", "7", "--compute", "4", "--format", "json"})
          .output);
  CHECK(planned.at("length") == 58);
}

TEST_CASE("ranks begin when the file says, and what follows a late one is one transfer and one combine") {
  const temporary_file late("0\n0\n0\n0\n0\n0\n0\n100000\n");
  const auto completion = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--ranks", "8", "--bytes", "10", "-L", "500", "--compute-per-byte", "7"});
    return sim_json(more).at("completion").get<double>();
  };
  CHECK(completion({"reduce", "--algorithm", "arrival", "--rank-costs", late.path()}) == 100000 + 500 + 70);
  CHECK(completion({"reduce", "--algorithm", "arrival", "--root", "7", "--rank-costs", late.path()}) == 100000 + 70);
  CHECK(completion({"allreduce", "--algorithm", "arrival", "--rank-costs", late.path()}) == 100000 + 70 + 3 * 500);
  CHECK(completion({"reduce", "--algorithm", "arrival"}) < 3 * 570 + 1);
}

TEST_CASE("what was measured takes the place of what is not given") {
  const temporary_file costs(
      "node.latency = 7e-07\nnode.overhead = 2e-07\nnode.gap = 3e-07\nnode.gap_per_byte = 1e-10\n"
      "node.exchange_per_byte = 2e-10\nnode.handshake = 1e-06\ncombine.sum.float = 5e-11\n");
  const auto pair = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"reduce", "--ranks", "2", "--bytes", "1000", "--tuning", costs.path()});
    return sim_json(more).at("completion").get<double>();
  };
  CHECK(pair({}) == Approx(700 + 2 * 200 + 100 + 50));
  CHECK(pair({"--latency", "0"}) == Approx(2 * 200 + 100 + 50));
  CHECK(pair({"--compute-per-byte", "0", "--road", "node"}) == Approx(700 + 2 * 200 + 100));
  const outcome unknown = sim({"barrier", "--ranks", "2", "--tuning", costs.path(), "--road", "fabric"});
  CHECK(unknown.status != 0);
  CHECK_THAT(unknown.error, ContainsSubstring("says nothing of the road fabric"));
  CHECK_THAT(sim({"barrier", "--ranks", "2", "--road", "node"}).error, ContainsSubstring("--tuning FILE"));
}

TEST_CASE("all of a model's parameters count") {
  const auto barrier = [](std::vector<std::string> more) {
    more.insert(more.begin(), {"barrier", "--ranks", "8", "--latency", "100"});
    return sim_json(more).at("completion").get<double>();
  };
  CHECK(barrier({}) == 300);
  CHECK(barrier({"--overhead", "5"}) == 330);
  const auto pair = [](std::vector<std::string> more) {
    more.insert(more.begin(), {"reduce", "--ranks", "2", "--bytes", "10", "--latency", "100"});
    return sim_json(more).at("completion").get<double>();
  };
  CHECK(pair({"--gap-per-byte", "2"}) == 120);
  CHECK(pair({"--overhead-per-byte", "0.5"}) == 110);
  CHECK(pair({"--compute-per-byte", "3"}) == 130);
  CHECK(pair({"--rendezvous", "9"}) == 300);
  CHECK(pair({"--rendezvous", "9", "--preposted"}) == 100);
  CHECK(pair({"--rendezvous", "10"}) == 100);
}

TEST_CASE("every collective and algorithm can be timed, each size in a line") {
  for (const auto& a : weft::schedules::algorithms()) {
    const std::string collective(name(a.kind)), algorithm(a.name);
    CAPTURE(collective, algorithm);
    std::vector<std::string> words{collective, "-n", "6",  "--algorithm", algorithm, "--bytes", "60",
                                   "6000",     "-L", "10", "-G",          "1",       "--json"};
    if ((a.parameters & weft::schedules::takes::groups) != 0) words.insert(words.end(), {"--group-size", "2"});
    const outcome done = sim(words);
    CAPTURE(done.error);
    CHECK(done.status == 0);
    std::istringstream lines(done.output);
    std::vector<json> found;
    for (std::string line; std::getline(lines, line);) found.push_back(json::parse(line));
    REQUIRE(found.size() == 2);
    CHECK(found[0].at("what") == collective + " " + algorithm);
    CHECK(found[0].at("bytes") == 60);
    CHECK(found[0].at("completion") > 0);
    if (collective == "barrier")
      CHECK(found[0].at("completion") == found[1].at("completion"));
    else
      CHECK(found[0].at("completion") < found[1].at("completion"));
  }
}

TEST_CASE("LogGOPSim's model times a collective as the GOAL file of its plan") {
  const std::vector<std::string> model{"--model", "loggopsim", "-L", "2500", "-o", "1500",
                                       "-g",      "1000",      "-G", "6",    "-S", "64"};
  for (const char* algorithm : {"recursive-doubling", "ring", "two-tree"}) {
    const std::vector<std::string> what{"allreduce", "-n", "6", "--algorithm", algorithm, "--bytes", "600"};
    const auto with = [](std::vector<std::string> words, const std::vector<std::string>& more) {
      words.insert(words.end(), more.begin(), more.end());
      return words;
    };
    const outcome planned = weft_test::run(with({"plan"}, with(what, {"--format", "goal", "--compute", "0"})));
    REQUIRE(planned.status == 0);
    const temporary_file goal(planned.output);
    const json timed = sim_json(with(what, model));
    CHECK(timed.at("completion") == sim_json(with({"--goal", goal.path()}, model)).at("completion"));
    CHECK(timed.at("completion") != sim_json(with(what, {model.begin() + 2, model.end()})).at("completion"));
  }
  CHECK(sim({"barrier", "-n", "2", "--model", "loggopsim"}).status == 0);
  for (const char* other : {"--preposted", "--progress-thread"})
    CHECK_THAT(sim({"barrier", "-n", "2", "--model", "loggopsim", other}).error,
               ContainsSubstring("not with --model loggopsim"));
  CHECK_THAT(sim({"barrier", "-n", "2", "--model", "loggopsim", "-L", "0.5"}).error,
             ContainsSubstring("latency is 0.5"));
}

TEST_CASE("names are found however they are spelled") {
  for (const char* collective : {"allreduce", "all-reduce", "all_reduce"})
    CHECK(sim_json({collective, "-n", "4", "--algorithm", "recursive_doubling"}).at("what") ==
          "all-reduce recursive-doubling");
  CHECK(sim_json({"bcast", "-n", "4"}).at("what") == "broadcast binomial");
}

TEST_CASE("the same seed prints the same, another one something else") {
  const auto noisy = [](const std::string& seed) {
    return sim({"allreduce", "-n", "32", "-L", "1000", "-o", "100", "--noise", "10000:1000", "--seed", seed, "--json"})
        .output;
  };
  CHECK(noisy("1") == noisy("1"));
  CHECK(noisy("1") != noisy("2"));
}

TEST_CASE("ranks that are alike are timed as all of them are") {
  for (const char* collective : {"allreduce", "reduce_scatter", "alltoall", "barrier"}) {
    std::vector<std::string> words{collective, "-n", "12", "--bytes", "120", "-L", "50",
                                   "-o",       "7",  "-g", "9",       "-G",  "2"};
    if (collective == std::string("allreduce")) words.insert(words.end(), {"--algorithm", "ring"});
    CAPTURE(collective);
    json alike = sim_json(words);
    const std::string text = sim(words).output;
    CHECK_THAT(text, ContainsSubstring("rank 0 stands for each"));
    // Noise that takes nothing sets ranks apart, as the program has it.
    words.insert(words.end(), {"--noise", "1000:0"});
    json all = sim_json(words);
    CHECK_THAT(sim(words).output, !ContainsSubstring("rank 0 stands for each"));
    CHECK(alike.at("critical_path").at("length") > 0);
    for (json* each : {&alike, &all}) each->erase("critical_path");
    CHECK(alike == all);
  }
}

TEST_CASE("a trace of noise delays what it falls into, or is refused with its line") {
  const temporary_file goal("num_ranks 1\nrank 0 {\ncalc 8000000\n}\n");
  const temporary_file trace("# 200 of each 1000 ns\n100\t150\n900\t50\n1000\t0\n");
  const auto noisy = [&](const std::string& noise) {
    return sim_json({"--goal", goal.path(), "--noise", noise}).at("completion").get<double>();
  };
  CHECK(noisy(trace.path()) == Approx(10'000'000).margin(1000));
  CHECK(noisy(trace.path() + ":coscheduled") == Approx(10'000'000).margin(1000));
  CHECK(noisy("1000:200") == Approx(10'000'000).margin(1000));
  CHECK(noisy("1000:200:exponential") == Approx(10'000'000).epsilon(0.1));
  const auto refusal = [&](const std::string& noise) { return sim({"--goal", goal.path(), "--noise", noise}).error; };
  const temporary_file wrong("100\t150\n200\t50\n");
  CHECK_THAT(refusal(wrong.path()), ContainsSubstring("noise trace, line 2"));
  for (const char* none : {"/no/such/file", "1000", "1000:1000", "1000:200:often", "1000:200:random:x"})
    CHECK_THAT(refusal(none), ContainsSubstring("is not PERIOD:DURATION"));
}

TEST_CASE("a timeline is drawn into a file") {
  const temporary_file drawing;
  CHECK(sim({"reduce", "-n", "4", "-L", "1", "--svg", drawing.path()}).status == 0);
  CHECK_THAT(drawing.text(), ContainsSubstring("<svg"));
  CHECK_THAT(drawing.text(), ContainsSubstring("class=\"transfer\""));
  CHECK_THAT(sim({"reduce", "-n", "4", "-L", "1", "--svg", "/no/such/folder/x.svg"}).error,
             ContainsSubstring("cannot be written"));
}

TEST_CASE("a GOAL file is timed, or refused with its line") {
  const temporary_file goal(
      "num_ranks 2\nrank 0 {\nsend 10b to 1\ncalc 500\n}\nrank 1 {\nl: recv 10b from 0\nc: calc 7\nc requires l\n}\n");
  const json timed = sim_json({"--goal", goal.path(), "-L", "100", "-G", "2"});
  CHECK(timed.at("completion") == 500);
  CHECK(timed.at("rank_times").at(1).at("finish") == 127);
  const temporary_file wrong("num_ranks 1\nrank 0 {\nwait 5\n}\n");
  const outcome refused = sim({"--goal", wrong.path()});
  CHECK(refused.status == 1);
  CHECK_THAT(refused.error, ContainsSubstring("GOAL, line 3"));
  CHECK_THAT(sim({"--goal", "/no/such/file"}).error, ContainsSubstring("cannot be read"));
  CHECK_THAT(sim({"--goal", goal.path(), "--ranks", "2"}).error, ContainsSubstring("not with --goal"));
}

TEST_CASE("rings along the switches are not slowed by a network, random ones are") {
  const temporary_file network(
      "SwitchName=s0 Nodes=a[1-8]\nSwitchName=s1 Nodes=b[1-8]\nSwitchName=s2 Nodes=c[1-8]\nSwitchName=s3 Nodes=d[1-8]\n"
      "SwitchName=top Switches=s[0-3]\n");
  const auto ring = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"allreduce", "--algorithm", "ring", "--bytes", "32768", "-L", "100", "-G", "1"});
    if (std::find(more.begin(), more.end(), "-n") == more.end()) more.insert(more.end(), {"-n", "32"});
    return sim_json(more).at("completion").get<double>();
  };
  const auto on_network = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"--topology", network.path()});
    return ring(more);
  };
  const double alone = ring({});
  CHECK(on_network({}) == alone);
  CHECK(on_network({"--placement", "random"}) > 2 * alone);
  CHECK(on_network({"--placement", "random"}) != on_network({"--placement", "random", "--seed", "1"}));
  CHECK(on_network({"--placement", "random", "--network-order"}) == alone);
  CHECK(on_network({"--placement", "random", "--link-gap", "0.01"}) == alone);
  // Two ranks on each machine: of a block, one sends to another machine; else both.
  const double twice = ring({"-n", "64"});
  CHECK(on_network({"-n", "64", "--placement", "block"}) == twice);
  CHECK(on_network({"-n", "64", "--placement", "cyclic"}) > 1.5 * twice);
  CHECK_THAT(sim({"allreduce", "-n", "32", "--topology", network.path()}).error, ContainsSubstring("give --link-gap"));
  CHECK_THAT(sim({"allreduce", "-n", "32", "--network-order"}).error, ContainsSubstring("--topology NETWORK"));
}

TEST_CASE("tori and fat trees are described in a word, their links by level") {
  const auto ring = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"allreduce", "-n", "16", "--algorithm", "ring", "--bytes", "32768", "-L", "100"});
    if (std::ranges::find(more, "-G") == more.end()) more.insert(more.end(), {"-G", "1"});
    return sim_json(more).at("completion").get<double>();
  };
  const double alone = ring({});
  // Back and forth through the rows each rank is beside the next.
  CHECK(ring({"--topology", "torus:4x4", "--network-order"}) == alone);
  CHECK(ring({"--topology", "torus:4x4", "--placement", "random"}) > 1.5 * alone);
  CHECK(ring({"--topology", "torus:4x4", "--placement", "random", "--network-order"}) == alone);
  CHECK(ring({"--topology", "fat-tree:2;4,4;1,4;1,1"}) == alone);
  CHECK(ring({"--topology", "fat-tree:2;4,4;1,1;1,1", "--placement", "random"}) > 1.5 * alone);
  const std::vector<std::string> slow{"--topology", "fat-tree:2;4,4;1,1;1,1", "--link-gap", "1,2"};
  CHECK(ring(slow) > 1.5 * alone);
  CHECK(ring({"--topology", "fat-tree:2;4,4;1,1;1,1", "--link-latency", "0,500"}) == alone + 8 * 1000);  // in 30 steps
  CHECK(ring({"--topology", "torus:16", "--link-latency", "5", "--network-order"}) == alone + 30 * 5);
  CHECK(ring({"--topology", "torus:16", "--link-overhead", "7"}) == ring({"-o", "7"}));
  CHECK(ring({"--topology", "torus:16", "--flow-gap", "3"}) == ring({"-G", "3"}));
  CHECK(ring({"--topology", "torus:16", "--link-message-gap", "5000"}) == ring({"-g", "5000"}));
  const auto refusal = [&](const std::string& network) {
    return sim({"allreduce", "-n", "16", "-G", "1", "--topology", network}).error;
  };
  CHECK_THAT(refusal("torus:4xx4"), ContainsSubstring("is not torus: and a size for each dimension"));
  CHECK_THAT(refusal("torus:4x1"), ContainsSubstring("sizes from 2 on"));
  CHECK_THAT(refusal("fat-tree:2;4;1;1"), ContainsSubstring("is not fat-tree:LEVELS;DOWN;UP;CABLES"));
  CHECK_THAT(refusal("fat-tree:2;4,4;1,1"), ContainsSubstring("is not fat-tree:LEVELS;DOWN;UP;CABLES"));
  CHECK_THAT(refusal("fat-tree:1;4;0;1"), ContainsSubstring("from 1, not 0"));
  CHECK_THAT(sim({"allreduce", "-n", "2", "--link-latency", "5"}).error, ContainsSubstring("--topology NETWORK"));
  CHECK_THAT(sim({"allreduce", "-n", "2", "--topology", "torus:2", "--link-gap", "1,0"}).error,
             ContainsSubstring("links need a speed"));
}

TEST_CASE("ranks that wait for one another for ever are named") {
  const temporary_file goal(
      "num_ranks 2\n"
      "rank 0 {\ns: send 10b to 1\nr: recv 10b from 1\nr requires s\n}\n"
      "rank 1 {\ns: send 10b to 0\nr: recv 10b from 0\nr requires s\n}\n");
  CHECK(sim({"--goal", goal.path()}).status == 0);
  const outcome stuck = sim({"--goal", goal.path(), "--rendezvous", "5"});
  CHECK(stuck.status == 1);
  CHECK_THAT(stuck.error, ContainsSubstring("deadlock: rank 0, step 0 (send of 10 bytes to rank 1) waits for rank 1"));
}

TEST_CASE("bad arguments of a simulation are named, with what is right") {
  const auto refusal = [](const std::vector<std::string>& arguments) {
    const outcome refused = sim(arguments);
    CAPTURE(arguments);
    CHECK(refused.status == 2);
    CHECK(refused.output.empty());
    return refused.error;
  };
  CHECK_THAT(refusal({}), ContainsSubstring("COLLECTIVE or --goal FILE is required"));
  CHECK_THAT(refusal({"reduce"}), ContainsSubstring("--ranks is required"));
  CHECK_THAT(refusal({"gossip", "--ranks", "2"}), ContainsSubstring("gossip"));
  CHECK_THAT(refusal({"reduce", "--ranks", "0"}), ContainsSubstring("is not a whole number from 1"));
  CHECK_THAT(refusal({"reduce", "--ranks", "4", "--root", "4"}), ContainsSubstring("ranks 0 to 3"));
  CHECK_THAT(refusal({"allreduce", "--ranks", "4", "--algorithm", "ring", "--degree", "3"}),
             ContainsSubstring("all-reduce ring does not take that; it takes --segments, --window"));
  const std::string no_ring = refusal({"reduce", "--ranks", "4", "--algorithm", "ring"});
  for (const char* name : {"\"ring\"", "binomial", "greedy", "chain", "two-tree", "fibonacci", "fnomial"})
    CHECK_THAT(no_ring, ContainsSubstring(name));
  for (const char* time : {"-1", "nan", "x", ""})
    CHECK_THAT(refusal({"reduce", "--ranks", "4", "--latency", time}), ContainsSubstring("is not a time"));
  CHECK_THAT(refusal({"reduce", "--ranks", "4", "--count", "-8"}), ContainsSubstring("is not a whole number"));
  CHECK_THAT(refusal({"reduce", "--ranks", "4", "--bytes", "-8"}), ContainsSubstring("is not a number of bytes"));
  CHECK_THAT(refusal({"reduce", "--ranks", "4", "--bytes", "8", "--count", "2"}), ContainsSubstring("excludes"));
  CHECK_THAT(refusal({"reduce", "--ranks", "4", "--ports", "two"}), ContainsSubstring("{pipelined,one,many}"));
  for (const char* noise : {"100", "100:100", "x:1", "100:10:often", "100:10:random:1"})
    CHECK_THAT(refusal({"reduce", "--ranks", "4", "--noise", noise}), ContainsSubstring("PERIOD:DURATION"));
}
