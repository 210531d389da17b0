// SPDX-License-Identifier: Apache-2.0
// Ranks that die while the job is busy: every call of every other rank must throw peer_lost that names one of the dead,
// within a second, and the others must end in order; where they go on, they must do so within a second. WEFT_TEST_KILLS
// says how many of each kind, WEFT_TEST_SEED which seed to try alone, WEFT_TEST_PROVIDERS (a comma between) over what.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <sstream>
#include <weft/fabric/provider.hpp>

#include "board.hpp"
#include "catch.hpp"
#include "draw.hpp"
#include "setting.hpp"
#include "stacks.hpp"
#include "thorough.hpp"
#include "tools/launcher_under_test.hpp"

using namespace std::chrono_literals;
using namespace weft_test;

namespace {

constexpr std::int64_t second = 1'000'000'000;

/// Jobs that run beside each other.
constexpr int at_once = slowdown == 1 ? 3 : 1;

/// As many as are killed.
constexpr int spare_processes = 2;

/// How many jobs are to lose a rank; under a sanitizer each takes several seconds, on an emulated processor more.
int kills() { return setting("KILLS", emulated ? 12 : slowdown == 1 ? 40 : 24); }

struct trial {
  std::string scenario;
  std::uint64_t seed;
  std::string provider;
  int ranks;       // processes
  int ranks_each;  // of a process
  board shared;
  launcher running;

  trial(const std::string& name, std::uint64_t number, const std::string& by)
      : scenario(name),
        seed(number),
        provider(by),
        ranks(name == "revoke" ? 16 : 4 + static_cast<int>(draw(number, 5, 5))),
        ranks_each(name == "revoke" ? 4
                   : name.starts_with("divide") || name == "shrink" || name == "grow"
                       ? 1 + static_cast<int>(draw(number, 8, 2))
                       : 1),
        running(command()) {}

  std::vector<std::string> command() const {
    std::vector<std::string> words{"run",
                                   "-n",
                                   std::to_string(ranks * ranks_each),
                                   "--ranks-per-process",
                                   std::to_string(ranks_each),
                                   "--oversubscribe",
                                   "--on-failure",
                                   "continue",
                                   "--progress",
                                   draw(seed, 6, 3) == 0 ? "thread" : "caller",
                                   "--timeout",
                                   seconds_of_a_job};
    for (const std::string& word : road_options(provider)) words.push_back(word);
    if (scenario == "grow") words.insert(words.end(), {"--spares", std::to_string(spare_processes * ranks_each)});
    if (scenario == "stop") words.insert(words.end(), {"-x", "WEFT_PEER_TIMEOUT=1000"});
    if (scenario == "start" && draw(seed, 7, 2) == 0)  // most of them die while costs are measured
      words.insert(words.end(), {"-x", "WEFT_TUNE=start", "-x", "WEFT_TUNE_BUDGET=100"});
    words.insert(words.end(), {"PROGRAM", "survive", scenario, std::to_string(seed), shared.path()});
    return words;
  }
};

struct figures {
  std::vector<double> noticed, refused, ended;  // milliseconds

  static std::string row(std::vector<double>& of) {
    if (of.empty()) return "none";
    std::sort(of.begin(), of.end());
    char text[80];
    std::snprintf(text, sizeof text, "median %.1f ms, worst %.1f ms of %zu", of[of.size() / 2], of.back(), of.size());
    return text;
  }
};

/// The status that `weft run` is to return.
int expected_status(const std::string& scenario) {
  if (scenario == "exit") return 1;
  if (scenario == "throw") return 128 + SIGABRT;
  return scenario == "stop" || scenario == "revoke" ? 0 : 128 + SIGKILL;
}

std::string state_of(const trial& one, int rank) {
  const board_line& line = one.shared[rank];
  std::ostringstream text;
  text << "\n  rank " << rank << (line.struck_at != 0 ? " (struck)" : "") << ": verdict "
       << static_cast<int>(line.what.load()) << ", round " << line.round << " of kind " << line.kind << ", lost rank "
       << line.lost_rank << ", " << line.text.data();
  return text.str();
}

/// Empty where the job ends in time.
std::string stacks_where_hanging(const launcher& job) {
  return job.ends_within(before_a_job_hangs) ? std::string() : "it hangs:" + stacks_below(job.pid());
}

void judge(trial& one, figures& seen) {
  const std::string stacks = stacks_where_hanging(one.running);
  const outcome ended = one.running.wait();
  std::int64_t struck_at = 0;
  std::string states;
  const int ranks = one.ranks * one.ranks_each;
  const int with_spares = ranks + (one.scenario == "grow" ? spare_processes * one.ranks_each : 0);
  const auto first_of = [&](int rank) -> const board_line& {  // of its process
    return one.shared[std::max(0, rank) / one.ranks_each * one.ranks_each];
  };
  for (int rank = 0; rank < with_spares; ++rank) {
    struck_at = std::max(struck_at, one.shared[rank].struck_at.load());
    states += state_of(one, rank);
  }
  INFO("scenario " << one.scenario << ", seed " << one.seed << ", " << one.ranks << " processes of " << one.ranks_each
                   << " over " << one.provider << ", status " << ended.status << ", " << ended.time.count() << " ms"
                   << states << "\n"
                   << ended.error << stacks);
  if (one.scenario == "leave" && ended.status == 0) return;  // it had left before
  CHECK(ended.status == expected_status(one.scenario));
  REQUIRE(struck_at != 0);
  for (int rank = 0; rank < ranks; ++rank) {
    const board_line& line = one.shared[rank];
    if (first_of(rank).struck_at != 0 && one.scenario != "stop" && one.scenario != "revoke") continue;
    CAPTURE(rank);
    if (one.scenario == "stop") {
      CHECK(line.what == verdict::done);
    } else if (one.scenario == "leave") {
      CHECK((line.what == verdict::done || line.what == verdict::lost));
    } else {
      CHECK(line.what == verdict::lost);
      CHECK(first_of(line.lost_rank).struck_at != 0);
      if (one.scenario == "start" && line.round == 0 && line.kind == 0)
        CHECK_THAT(line.text.data(), ContainsSubstring("process " + std::to_string(line.lost_rank.load())));
      // Those that start may not have come far when one dies.
      const std::int64_t most = one.scenario == "start" ? 10 * second : one.scenario == "revoke" ? second / 4 : second;
      CHECK(line.noticed_at - struck_at < most * slowdown);
      seen.noticed.push_back(static_cast<double>(line.noticed_at - struck_at) / 1e6);
      seen.refused.push_back(static_cast<double>(line.slowest_refusal) / 1e6);
    }
    seen.ended.push_back(static_cast<double>(line.ended_at - struck_at) / 1e6);
  }
  for (int spare = ranks; spare < with_spares; ++spare) {
    CAPTURE(spare);
    CHECK(one.shared[spare].what == verdict::lost);
  }
}

void try_all(const std::string& scenario, int count) {
  for (const std::string& provider : providers_of(weft::fabric::default_provider() + ",node")) {
    figures seen;
    std::deque<std::unique_ptr<trial>> running;
    const auto finish_first = [&] {
      judge(*running.front(), seen);
      running.pop_front();
    };
    for (const std::uint64_t seed : seeds(count)) {
      if (static_cast<int>(running.size()) == at_once) finish_first();
      running.push_back(std::make_unique<trial>(scenario, seed, provider));
    }
    while (!running.empty()) finish_first();
    std::printf("%s over %s: noticed %s; later calls %s; ended %s\n", scenario.c_str(), provider.c_str(),
                figures::row(seen.noticed).c_str(), figures::row(seen.refused).c_str(),
                figures::row(seen.ended).c_str());
    std::fflush(stdout);
    CHECK(left_behind().empty());
  }
}

}  // namespace

TEST_CASE("a rank killed under load is lost to every other one within a second", "[kill]") {
  try_all("kill", setting("KILLS", thorough() || slowed ? kills() : 20));
}
TEST_CASE("two ranks killed at once", "[two]") { try_all("two", kills() / 4); }
TEST_CASE("a process killed while others divide communicators", "[divide]") { try_all("divide", kills() / 2); }
TEST_CASE("two of them", "[divide-two]") { try_all("divide-two", kills() / 4); }
TEST_CASE("two processes killed, and the others go on in smaller communicators", "[shrink]") {
  try_all("shrink", kills() / 4);
}
TEST_CASE("two processes killed, and the others go on with spares in their place", "[grow]") {
  try_all("grow", kills() / 4);
}
TEST_CASE("a communicator of 64 ranks is revoked", "[revoke]") { try_all("revoke", kills() / 8); }
TEST_CASE("a rank that exits in the middle is lost", "[exit]") { try_all("exit", kills() / 8); }
TEST_CASE("a rank that throws out of main is lost", "[throw]") { try_all("throw", kills() / 8); }
TEST_CASE("a rank killed while the job starts is lost", "[start]") { try_all("start", kills() / 4); }
TEST_CASE("a rank killed while it leaves disturbs nobody", "[leave]") { try_all("leave", kills() / 4); }
TEST_CASE("a rank that is stopped for longer than the peer timeout is waited for", "[stop]") {
  try_all("stop", kills() / 10);
}

TEST_CASE("a rank that computes for long does not keep the others from a loss", "[away]") {
  for (const std::string& provider : providers_of(weft::fabric::default_provider() + ",node"))
    for (const char* kind : {"other", "anybody", "long"}) {
      const board shared;
      std::vector<std::string> command{"run",          "-n",       "3",         "--oversubscribe",
                                       "--on-failure", "continue", "--timeout", "60"};
      for (const std::string& word : road_options(provider)) command.push_back(word);
      command.insert(command.end(), {"PROGRAM", "away", kind, shared.path()});
      launcher running(command);
      const outcome ended = running.wait();
      INFO(provider << ", a message of " << kind << ": " << shared[0].text.data() << "\n" << ended.error);
      CHECK(ended.status == 128 + SIGKILL);
      REQUIRE(shared[2].struck_at != 0);
      for (const int rank : {0, 1}) {
        CAPTURE(rank);
        CHECK(shared[rank].what == verdict::lost);
        CHECK(shared[rank].lost_rank == 2);
        CHECK(shared[rank].noticed_at - shared[2].struck_at < (rank == 0 ? 1 : 5) * second);
      }
      std::printf("a message of %s over %s: noticed after %.1f ms\n", kind, provider.c_str(),
                  static_cast<double>(shared[0].noticed_at - shared[2].struck_at) / 1e6);
    }
}

TEST_CASE("with --on-failure end a death ends the others within a second", "[ending]") {
  double longest = 0;
  for (const std::uint64_t seed : seeds(8)) {
    const bool kill = seed % 2 == 0;
    const board shared;
    launcher running({"run", "-n", "5", "--oversubscribe", "--timeout", seconds_of_a_job, "PROGRAM", "survive",
                      kill ? "kill" : "exit", std::to_string(seed), shared.path()});
    const outcome ended = running.wait();
    const std::int64_t now = common_clock();
    const auto victim = draw(seed, 1, 5);
    INFO("seed " << seed << "\n" << ended.error);
    CHECK(ended.status == expected_status(kill ? "kill" : "exit"));
    CHECK_THAT(ended.error, ContainsSubstring("rank " + std::to_string(victim) + " (pid "));
    CHECK_THAT(ended.error, ContainsSubstring(kill ? "was killed by signal 9, SIGKILL" : "exited with status 1"));
    REQUIRE(shared[static_cast<int>(victim)].struck_at != 0);
    const double seconds = static_cast<double>(now - shared[static_cast<int>(victim)].struck_at) / 1e9;
    CHECK(seconds < 1.5 * slowdown);  // a second, and the end of the launcher itself
    longest = std::max(longest, seconds);
  }
  std::printf("the others were gone after %.2f s at the longest\n", longest);
  CHECK(left_behind().empty());
}
