// SPDX-License-Identifier: Apache-2.0
// The traces of jobs whose processes are threads of this one.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <latch>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <weft/runtime/trace.hpp>

#include "run_ranks.hpp"
#include "temporary_file.hpp"

using namespace weft_test;
using nlohmann::json;
using namespace std::chrono_literals;

namespace {

job traced(const temporary_file& file, int processes, int ranks_per_process = 1) {
  job what;
  what.processes = processes;
  what.ranks_per_process = ranks_per_process;
  what.settings.trace = file.path();
  return what;
}

json trace_in(const temporary_file& file) { return json::parse(file.text()); }

/// The number of the rank whose track it is; -1: none's.
int rank_of(const json& trace, const json& event) {
  for (const json& track : trace["otherData"]["tracks"])
    if (track["pid"] == event["pid"] && track["tid"] == event["tid"]) return track.value("rank", -1);
  return -1;
}

/// The beginnings of the events that `is_wanted`, of a rank.
template <class IsWanted>
std::vector<json> events_of(const json& trace, int rank, IsWanted is_wanted) {
  std::vector<json> found;
  for (const json& event : trace["traceEvents"])
    if ((event["ph"] == "X" || event["ph"] == "b") && rank_of(trace, event) == rank && is_wanted(event))
      found.push_back(event);
  return found;
}

std::vector<json> calls_of(const json& trace, int rank, const std::string& name, const std::string& form) {
  return events_of(trace, rank, [&](const json& event) {
    return event["cat"] == "call" && event["name"] == name && event["args"].value("form", "") == form;
  });
}

}  // namespace

TEST_CASE("every form of a call is in the trace, with what is known of it") {
  const int ranks_per_process = GENERATE(1, 2);
  CAPTURE(ranks_per_process);
  const bool node = GENERATE(true, false);
  CAPTURE(node);
  temporary_file file;
  job what = traced(file, 2, ranks_per_process);
  what.settings.node = node;
  const int ranks = what.ranks();
  run_ranks(what, [&](weft::communicator& world) {
    const int next = (world.rank() + 1) % ranks, before = (world.rank() + ranks - 1) % ranks;
    std::vector<double> in(1000, 1.0), out(1000);
    world.allreduce(in, out, weft::sum);
    world.iallreduce(in, out, weft::sum).wait();
    auto plan = world.plan_allreduce(in, out, weft::sum);
    for (int i = 0; i < 3; ++i) plan.start(), plan.wait();
    auto coming = world.irecv(out, before, 5);
    world.send(in, next, 5);
    coming.wait();
    auto leaving = world.isend(in, next, 6);
    world.recv(out, before, 6);
    leaving.wait();
    world.sendrecv(in, next, 7, out, before, 7);
    world.barrier();
  });
  const json trace = trace_in(file);
  CHECK(trace["otherData"]["ranks"] == ranks);
  CHECK(trace["otherData"]["processes"] == 2);
  CHECK(trace["otherData"]["missing"].empty());
  for (int rank = 0; rank < ranks; ++rank) {
    CAPTURE(rank);
    const auto blocking = calls_of(trace, rank, "allreduce", "blocking");
    REQUIRE(blocking.size() == 1);
    const json& args = blocking[0]["args"];
    CHECK(args["bytes"] == 8000);
    CHECK(args["communicator"] == 0);
    CHECK(args["road"] == (node ? ranks_per_process > 1 ? "process" : "node" : "messages"));
    if (!node || ranks_per_process == 1) CHECK_FALSE(args["algorithm"].get<std::string>().empty());
    const auto started = calls_of(trace, rank, "allreduce", "started");
    REQUIRE(started.size() == 1);
    CHECK(started[0]["ph"] == "b");
    CHECK(started[0]["args"]["sequence"] == args["sequence"].get<int>() + 1);
    CHECK(calls_of(trace, rank, "allreduce", "planned").size() == 3);
    CHECK(calls_of(trace, rank, "barrier", "blocking").size() == 1);
    const int next = (rank + 1) % ranks;
    const auto sent = calls_of(trace, rank, "send", "blocking");
    REQUIRE(sent.size() == 1);
    CHECK(sent[0]["args"]["peer"] == next);
    CHECK(sent[0]["args"]["tag"] == 5);
    CHECK(sent[0]["args"]["bytes"] == 8000);
    CHECK(calls_of(trace, rank, "irecv", "started").size() == 1);
    CHECK(calls_of(trace, rank, "isend", "started").size() == 1);
    CHECK(calls_of(trace, rank, "recv", "blocking").size() == 1);
    CHECK(calls_of(trace, rank, "sendrecv", "blocking").size() == 1);
    const auto transfers = events_of(trace, rank, [](const json& event) { return event["cat"] == "transfer"; });
    CHECK(transfers.size() >= 6);
  }
}

TEST_CASE("a rank that comes late is who is waited for") {
  const auto road = GENERATE(as<std::string>(), "node", "process", "workers", "messages", "message");
  CAPTURE(road);
  temporary_file file;
  const bool joins = road == "process" || road == "workers";
  job what = traced(file, joins ? 1 : 2, joins ? 2 : 1);
  what.settings.node = road == "node" || joins;
  what.settings.workers = road == "workers" ? 2 : 1;
  run_ranks(what, [&](weft::communicator& world) {
    world.barrier();
    if (world.rank() == 1) std::this_thread::sleep_for(100ms);
    int word = 0;
    if (road != "message")
      world.barrier();
    else if (world.rank() == 1)
      world.send(std::span(&word, 1), 0, 1);
    else
      world.recv(std::span(&word, 1), 1, 1);
  });
  const json trace = trace_in(file);
  const auto long_waits = [&](int rank) {
    return events_of(trace, rank, [](const json& event) { return event["cat"] == "wait" && event["dur"] > 50'000.0; });
  };
  const auto waits = long_waits(0);
  REQUIRE(waits.size() == 1);
  CHECK(waits[0]["args"]["for"] == json::array({1}));
  CHECK(long_waits(1).empty());
  if (joins) return;  // the thread is the other's meanwhile, or has another track
  const auto sleeps = events_of(trace, 0, [&](const json& event) {
    return event["cat"] == "sleep" && event["ts"] >= waits[0]["ts"] &&
           event["ts"].get<double>() + event["dur"].get<double>() <=
               waits[0]["ts"].get<double>() + waits[0]["dur"].get<double>();
  });
  CHECK_FALSE(sleeps.empty());
}

TEST_CASE("of several who are late each is waited for in turn") {
  temporary_file file;
  run_ranks(traced(file, 3), [&](weft::communicator& world) {
    const double mine = world.rank();
    double all = 0;
    for (int i = 0; i < 3; ++i) {
      if (i == 2) std::this_thread::sleep_for(world.rank() * 120ms);
      world.allreduce(std::span(&mine, 1), std::span(&all, 1), weft::sum);
    }
  });
  const json trace = trace_in(file);
  const auto waits = events_of(trace, 0, [](const json& event) { return event["cat"] == "wait" && event["dur"] > 50'000.0; });
  REQUIRE(waits.size() == 2);
  CHECK(waits[0]["args"]["for"] == json::array({1}));
  CHECK(waits[1]["args"]["for"] == json::array({2}));
  CHECK(waits[0]["ph"] == "X");
  CHECK(waits[1]["ts"].get<double>() + 0.001 >= waits[0]["ts"].get<double>() + waits[0]["dur"].get<double>());
  const auto last = calls_of(trace, 0, "allreduce", "blocking").back();
  CHECK(last["ts"] <= waits[0]["ts"]);
  CHECK(last["ts"].get<double>() + last["dur"].get<double>() + 0.001 >=
        waits[1]["ts"].get<double>() + waits[1]["dur"].get<double>());
}

TEST_CASE("the clocks of hosts are compared, and all times are on one") {
  temporary_file file;
  job what = traced(file, 4);
  what.nodes = {"a", "b", "a", "b"};
  run_ranks(what, [](weft::communicator& world) {
    for (int i = 0; i < 10; ++i) world.barrier();
  });
  const json trace = trace_in(file);
  const json& hosts = trace["otherData"]["hosts"];
  INFO(trace["otherData"].dump());
  REQUIRE(hosts.size() == 2);
  CHECK(hosts[0]["processes"] == json::array({0, 2}));
  CHECK(hosts[1]["processes"] == json::array({1, 3}));
  CHECK(hosts[0]["error_us"] == 0.0);
  // It is one clock.
  CHECK(hosts[1]["error_us"] > 0.0);
  CHECK(std::abs(hosts[1]["offset_us"].get<double>()) <= hosts[1]["error_us"].get<double>());
  // Nobody leaves a barrier before all have entered it, but for the bound.
  const double bound = hosts[1]["error_us"];
  std::vector<std::vector<json>> barriers;
  for (int rank = 0; rank < 4; ++rank) barriers.push_back(calls_of(trace, rank, "barrier", "blocking"));
  for (const auto& each : barriers) REQUIRE(each.size() == 10);
  for (std::size_t i = 0; i < 10; ++i) {
    double last_in = 0, first_out = 1e18;
    for (const auto& each : barriers) {
      const double begin = each[i]["ts"];
      last_in = std::max(last_in, begin);
      first_out = std::min(first_out, begin + each[i]["dur"].get<double>());
    }
    CHECK(first_out + 2 * bound + 1 >= last_in);
  }
}

TEST_CASE("of a long job the latest is kept, and what is not is counted") {
  temporary_file file;
  job what = traced(file, 2);
  what.settings.trace_buffer = 64 * 64;
  run_ranks(what, [](weft::communicator& world) {
    for (int i = 0; i < 1000; ++i) world.barrier();
  });
  const json trace = trace_in(file);
  for (const json& track : trace["otherData"]["tracks"]) {
    CHECK(track["events"] == 64);
    CHECK(track["dropped"] >= 1000 - 64);
  }
  for (int rank = 0; rank < 2; ++rank) {
    const auto barriers = calls_of(trace, rank, "barrier", "blocking");
    REQUIRE_FALSE(barriers.empty());
    CHECK(barriers.back()["args"]["sequence"] == barriers[0]["args"]["sequence"].get<std::size_t>() + barriers.size() - 1);
  }
}

TEST_CASE("a job goes on without the trace that cannot be written") {
  temporary_file file;
  job what = traced(file, 2);
  what.settings.trace = file.path() + "/no/such/folder";
  run_ranks(what, [](weft::communicator& world) { world.barrier(); });
  CHECK(file.text().empty());
}

TEST_CASE("a trace takes the place of another once it is whole, and leaves nothing beside it") {
  const temporary_file file("what was there");
  run_ranks(traced(file, 1), [](weft::communicator& world) { world.barrier(); });
  CHECK(trace_in(file)["otherData"]["processes"] == 1);
  const std::filesystem::path path(file.path());
  for (const auto& each : std::filesystem::directory_iterator(path.parent_path()))
    CHECK((each.path() == path || !each.path().string().starts_with(path.string())));
}

TEST_CASE("without a lost process the others write what they have") {
  const int lost = GENERATE(0, 2);
  CAPTURE(lost);
  temporary_file file;
  job what = traced(file, 3);
  std::latch others_are_behind_it(2);
  const auto failures = run_processes(what, [&](int process, weft::runtime& runtime) {
    runtime.world().barrier();
    if (process == lost) {
      others_are_behind_it.wait();
      throw std::runtime_error("lost");
    }
    others_are_behind_it.count_down();
    try {
      for (;;) runtime.world().barrier();
    } catch (const weft::error&) {
    }
  });
  for (int p = 0; p < 3; ++p) CHECK((failures[static_cast<std::size_t>(p)] != nullptr) == (p == lost));
  const json trace = trace_in(file);
  CHECK(trace["otherData"]["missing"] == json::array({lost}));
  for (int rank = 0; rank < 3; ++rank) CHECK(calls_of(trace, rank, "barrier", "blocking").empty() == (rank == lost));
}

TEST_CASE("nothing is recorded without being asked for") {
  std::atomic<int> tracks = 0;
  run_ranks(small_job(2), [&](weft::communicator& world) {
    world.barrier();
    if (weft::trace::current_track != nullptr) ++tracks;
  });
  CHECK(tracks == 0);
}
