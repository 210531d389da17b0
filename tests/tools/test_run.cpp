// SPDX-License-Identifier: Apache-2.0
// `weft run`, end to end. Times allow for a loaded machine and for sanitizers: what must be done within a second is
// given the time of starting the processes on top.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <optional>
#include <sstream>
#include <thread>

#include "catch.hpp"
#include "launcher_under_test.hpp"
#include "sanitized.hpp"
#include "variable.hpp"

using namespace std::chrono_literals;
using weft_test::ContainsSubstring;
using weft_test::launcher;
using weft_test::left_behind;
using weft_test::outcome;
using weft_test::run;

namespace {

using words = std::vector<std::string>;

words job(const words& options, const words& commands) {
  words all{"run", "--oversubscribe"};
  all.insert(all.end(), options.begin(), options.end());
  all.push_back("PROGRAM");
  all.insert(all.end(), commands.begin(), commands.end());
  return all;
}

std::vector<std::string> sorted_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  return lines;
}

/// How many of the shared-memory files are there whose names the processes wrote.
std::ptrdiff_t regions_there(const std::string& output) {
  const auto lines = sorted_lines(output);
  return std::count_if(lines.begin(), lines.end(), [](const std::string& line) {
    return line.starts_with("/dev/shm/") && std::filesystem::exists(line);
  });
}

}  // namespace

TEST_CASE("every rank's process is told who it is") {
  const outcome all = run(job({"-n", "5", "--ranks-per-process", "2", "--provider", "net", "--progress", "thread", "-x",
                               "WEFT_TEST_ONE=1", "-x", "WEFT_TEST_LIST=[a,b]"},
                              {"variable", "WEFT_RANKS", "variable", "WEFT_RANKS_PER_PROCESS", "variable",
                               "WEFT_PROVIDER", "variable", "WEFT_PROGRESS", "variable", "WEFT_PROCESSES", "variable",
                               "WEFT_TEST_ONE", "variable", "WEFT_TEST_LIST", "variable", "WEFT_PROCESS"}));
  CHECK(all.status == 0);
  CHECK(all.error.empty());
  const auto lines = sorted_lines(all.output);
  REQUIRE(lines.size() == 24);
  CHECK(std::count(lines.begin(), lines.end(), "WEFT_RANKS=5") == 3);
  CHECK(std::count(lines.begin(), lines.end(), "WEFT_RANKS_PER_PROCESS=2") == 3);
  CHECK(std::count(lines.begin(), lines.end(), "WEFT_PROCESSES=3") == 3);
  CHECK(std::count(lines.begin(), lines.end(), "WEFT_PROVIDER=net") == 3);
  CHECK(std::count(lines.begin(), lines.end(), "WEFT_PROGRESS=thread") == 3);
  CHECK(std::count(lines.begin(), lines.end(), "WEFT_TEST_ONE=1") == 3);
  CHECK(std::count(lines.begin(), lines.end(), "WEFT_TEST_LIST=[a,b]") == 3);
  CHECK(std::count(lines.begin(), lines.end(), "WEFT_PROCESS=2") == 1);
}

TEST_CASE("processes meet in the launcher's store") {
  const outcome met = run(job({"-n", "9"}, {"join", "join", "say", "met"}));
  CHECK_THAT(met.error, ContainsSubstring("joined already"));  // the second time, while the first lasts
  CHECK(run(job({"-n", "9"}, {"join", "say", "met"})).output == "met\nmet\nmet\nmet\nmet\nmet\nmet\nmet\nmet\n");
}

TEST_CASE("the exit status is that of the rank that failed first in time") {
  CHECK(run(job({"-n", "3"}, {"exit", "0"})).status == 0);
  CHECK(run(job({"-n", "1"}, {"exit", "3"})).status == 3);
  const outcome later = run(job({"-n", "2", "--on-failure", "continue"}, {"only", "1", "exit", "4"}));
  CHECK(later.status == 4);
  // The higher rank fails first; the lower ones only when they learn of that.
  const outcome both = run({"run", "--oversubscribe", "-n", "3", "--on-failure", "continue", "sh", "-c",
                            "p=\"$WEFT_TEST_PROGRAM\"; if [ $WEFT_PROCESS = 2 ]; then exec \"$p\" join exit 7; "
                            "else exec \"$p\" join lost 2 exit 1; fi"});
  CHECK(both.status == 7);
  CHECK(sorted_lines(both.error).size() == 3);
}

TEST_CASE("the exit status stays that of the first failure, whatever ends the job afterwards") {
  // Rank 0 says so once it has been told of rank 1's failure.
  launcher stopped({"run", "--oversubscribe", "-n", "2", "--on-failure", "continue", "sh", "-c",
                    "p=\"$WEFT_TEST_PROGRAM\"; if [ $WEFT_PROCESS = 1 ]; then exec \"$p\" join exit 5; "
                    "else exec \"$p\" join lost 1 sleep 60000; fi"});
  REQUIRE(stopped.said("process 1 is lost", 1));
  stopped.signal(SIGTERM);
  const outcome ended = stopped.wait();
  CHECK(ended.status == 5);
  CHECK_THAT(ended.error, ContainsSubstring("received SIGTERM; ending the job"));
}

TEST_CASE("when a rank fails the others are ended within a second") {
  for (const bool stubborn : {false, true}) {
    const outcome ended = run({"run", "--oversubscribe", "-n", "3", "sh", "-c",
                               std::string(stubborn ? "trap '' TERM; " : "") +
                                   "if [ $WEFT_PROCESS = 1 ]; then sleep 0.3; exit 5; fi; sleep 60; sleep 60"});
    CHECK(ended.status == 5);
    CHECK(ended.time < 5s);
    CHECK_THAT(ended.error, ContainsSubstring("rank 1 (pid "));
    CHECK_THAT(ended.error, ContainsSubstring("exited with status 5; ending the job"));
    CHECK(sorted_lines(ended.error).size() == 1);
    CHECK(left_behind().empty());
  }
}

TEST_CASE("a rank killed by a signal is named with it") {
  const outcome killed = run(job({"-n", "2"}, {"say", "before", "join", "only", "1", "signal", "9"}));
  CHECK(killed.status == 137);
  CHECK_THAT(killed.error, ContainsSubstring("rank 1 (pid "));
  CHECK_THAT(killed.error, ContainsSubstring(", host "));
  CHECK_THAT(killed.error, ContainsSubstring("was killed by signal 9, SIGKILL (Killed)"));
  const outcome several = run(job({"-n", "4", "--ranks-per-process", "2"}, {"join", "only", "1", "signal", "9"}));
  CHECK_THAT(several.error, ContainsSubstring("the process of ranks 2 to 3 (pid "));
}

TEST_CASE("a rank that still dumps core is named before those that have failed meanwhile") {
  if (weft_test::slowed || weft_test::contents("/proc/sys/kernel/core_pattern") != "core\n") {
    WARN("cores do not go into the working directory here");
    return;
  }
  const auto folder = std::filesystem::temp_directory_path() / ("weft-test-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  const outcome dumped = run({"run", "--oversubscribe", "-n", "2", "sh", "-c",
                              "cd \"$1\"; ulimit -c unlimited; if [ $WEFT_PROCESS = 0 ]; then exec \"$0\" fill 300 "
                              "signal 6; else exec \"$0\" await-dump exit 3; fi",
                              "PROGRAM", folder});
  std::filesystem::remove_all(folder);
  CHECK(dumped.status == 134);
  CHECK_THAT(dumped.error, ContainsSubstring("was killed by signal 6, SIGABRT (Aborted), core dumped"));
  CHECK(sorted_lines(dumped.error).size() == 1);
}

TEST_CASE("with --on-failure continue the others go on and learn of the loss") {
  const outcome survived = run({"run", "--oversubscribe", "-n", "3", "--on-failure", "continue", "sh", "-c",
                                "p=\"$WEFT_TEST_PROGRAM\"; if [ $WEFT_PROCESS = 1 ]; then exec \"$p\" join signal 9; "
                                "else exec \"$p\" join lost 1; fi"});
  CHECK(survived.status == 137);
  CHECK_THAT(survived.error, ContainsSubstring("rank 1 (pid "));
  CHECK_THAT(survived.error, ContainsSubstring("the others go on"));
  CHECK(survived.output == "process 1 is lost\nprocess 1 is lost\n");
  const outcome told = run({"run", "--oversubscribe", "-n", "2", "--on-failure", "continue", "sh", "-c",
                            "if [ $WEFT_PROCESS = 1 ]; then kill -9 $$; fi; exec \"$WEFT_TEST_PROGRAM\" join"});
  CHECK(told.status == 137);
  CHECK_THAT(told.error, ContainsSubstring("process 1 of the job ended"));
}

TEST_CASE("spares are ranks more, and the others go on without who fails") {
  const outcome all = run(job({"-n", "3", "--spares", "1", "--ranks-per-process", "2"},
                              {"variable", "WEFT_RANKS", "variable", "WEFT_SPARES", "variable", "WEFT_PROCESSES"}));
  CHECK(all.status == 0);
  CHECK(all.output == "WEFT_RANKS=4\nWEFT_SPARES=1\nWEFT_PROCESSES=2\nWEFT_RANKS=4\nWEFT_SPARES=1\nWEFT_PROCESSES=2\n");
  const outcome survived = run({"run", "--oversubscribe", "-n", "2", "--spares", "1", "sh", "-c",
                                "p=\"$WEFT_TEST_PROGRAM\"; if [ $WEFT_PROCESS = 1 ]; then exec \"$p\" join signal 9; "
                                "else exec \"$p\" join lost 1; fi"});
  CHECK(survived.output == "process 1 is lost\nprocess 1 is lost\n");
  const outcome ended = run({"run", "--oversubscribe", "-n", "2", "--spares", "1", "--on-failure", "end", "sh", "-c",
                             "if [ $WEFT_PROCESS = 1 ]; then exit 5; fi; sleep 60"});
  CHECK(ended.status == 5);
  CHECK(ended.time < 30s);
  CHECK_THAT(run({"run", "-n", "2", "--spares", "some", "true"}).error, ContainsSubstring("--spares"));
}

TEST_CASE("a process that ends without joining is not waited for") {
  const outcome told = run({"run", "--oversubscribe", "-n", "2", "sh", "-c",
                            "if [ $WEFT_PROCESS = 0 ]; then exec \"$WEFT_TEST_PROGRAM\" join; fi"});
  CHECK(told.status == 134);
  CHECK(told.time < 10s);
  CHECK_THAT(told.error, ContainsSubstring("process 1 of the job ended before it came"));
}

TEST_CASE("limits of a user's shell are kept within, or named") {
  // What a shell with that limit runs, on one rank of a job.
  const auto under = [](const std::string& limit, const std::string& arguments) {
    return run({"run", "-n", "1", "sh", "-c", "ulimit " + limit + "; exec \"$WEFT_TEST_COMMAND\" " + arguments});
  };
  const std::string two_ranks = "run --oversubscribe -n 2 \"$WEFT_TEST_COMMAND\" bench allreduce -b 8 -e 8 --budget 1";
  const outcome on_short_stacks = under(weft_test::slowed ? "-s 512" : "-s 64", two_ranks);
  CHECK(on_short_stacks.status == 0);
  CHECK_THAT(on_short_stacks.output, ContainsSubstring("bytes"));
  if (weft_test::slowed) return;  // it takes more addresses than there are
  const outcome much = under("-v 200000", "plan allreduce --ranks 1000000 --algorithm ring");
  CHECK(much.status == 1);
  CHECK_THAT(much.error,
             ContainsSubstring("Cannot allocate memory (errno 12); RLIMIT_AS lets this process have 200000 KiB"));
}

TEST_CASE("output comes in whole lines") {
  const outcome mixed = run(job({"-n", "3", "--tag-output"}, {"flood", "3000", "a"}));
  CHECK(mixed.status == 0);
  const auto lines = sorted_lines(mixed.output);
  REQUIRE(lines.size() == 9000);
  const std::string text(200, 'a');
  for (const char* tag : {"[0] ", "[1] ", "[2] "}) CHECK(std::count(lines.begin(), lines.end(), tag + text) == 3000);
  CHECK(sorted_lines(run(job({"-n", "2"}, {"part", "no newline"})).output) == words{"no newline", "no newline"});
  CHECK(run(job({"-n", "1"}, {"part", "no newline"})).output == "no newline");
  const outcome streams =
      run(job({"-n", "2", "--ranks-per-process", "2", "--tag-output"}, {"say", "out", "complain", "err"}));
  CHECK(streams.output == "[0-1] out\n");
  CHECK(streams.error == "[0-1] err\n");
}

TEST_CASE("rank 0 reads the standard input, the others nothing") {
  const outcome echoed = run(job({"-n", "3", "--tag-output"}, {"echo"}), "one\ntwo\n");
  CHECK(echoed.status == 0);
  CHECK(echoed.output == "[0] one\n[0] two\n");
}

TEST_CASE("a program that cannot be started is an error before anything starts") {
  const outcome missing = run({"run", "-n", "2", "no-such-program"});
  CHECK(missing.status == 127);
  CHECK_THAT(missing.error, ContainsSubstring("no-such-program"));
  CHECK(run({"run", "-n", "2", "./no-such-program"}).status == 127);
  CHECK(run({"run", "-n", "2", "/etc/passwd"}).status == 126);
  CHECK_THAT(run({"run", "-n", "2", "/tmp"}).error, ContainsSubstring("a directory"));
  CHECK(run({"run", "-n", "1", "weft", "--version"}).status == 0);  // itself, though PATH does not have it
}

TEST_CASE("bad options are named, with what is right") {
  const auto refusal = [](const words& options) {
    const outcome refused = run(job(options, {}));
    CHECK(refused.status == 2);
    CHECK(refused.output.empty());
    return refused.error;
  };
  for (const char* count : {"0", "-3", "two", "1.5", "99999999999", ""})
    CHECK_THAT(refusal({"-n", count}), ContainsSubstring("is not a whole number from 1"));
  CHECK_THAT(refusal({}), ContainsSubstring("--ranks is required"));
  CHECK_THAT(refusal({"-n", "1", "--bind-to", "socket"}), ContainsSubstring("core"));
  CHECK_THAT(refusal({"-n", "1", "--topology", "/nowhere"}), ContainsSubstring("/nowhere cannot be read"));
  CHECK_THAT(refusal({"-n", "1", "--topology", "/etc/passwd"}), ContainsSubstring("/etc/passwd:1: "));
  CHECK_THAT(refusal({"-n", "1", "--timeout", "-1"}), ContainsSubstring("above 0"));
  CHECK_THAT(refusal({"-n", "1", "--grace", "-1"}), ContainsSubstring("not a number of seconds"));
  CHECK_THAT(refusal({"-n", "1", "--ranks-per-process", "0"}), ContainsSubstring("whole number"));
  CHECK_THAT(refusal({"-n", "1", "--no-such-option"}), ContainsSubstring("--no-such-option"));
  CHECK_THAT(refusal({"--", "-n", "2", "echo"}), ContainsSubstring("\"-n\" stands behind the --"));
  CHECK(run({"run", "-n", "1"}).status == 2);
  CHECK(run({"run", "--help"}).status == 0);
}

TEST_CASE("the program's own options are its own") {
  CHECK(run({"run", "-n", "1", "echo", "-n", "3", "--tag-output", "--", "[a,b]"}).output == "3 --tag-output -- [a,b]");
}

TEST_CASE("the program may stand behind a --, which is not its own") {
  CHECK(run({"run", "-n", "1", "--", "echo", "hi"}).output == "hi\n");
  CHECK(run({"run", "-n1", "--tag-output", "--progress", "thread", "--timeout=60", "--", "echo", "--", "-n", "[a]"})
            .output == "[0] -- -n [a]\n");
  CHECK(run({"run", "-n", "2", "--"}).status == 2);
}

TEST_CASE("too many ranks are mentioned once") {
  const outcome told = run({"run", "-n", "70", "true"});
  CHECK(told.status == 0);
  CHECK_THAT(told.error, ContainsSubstring("70 ranks share"));
  CHECK(sorted_lines(told.error).size() == 1);
  CHECK(run({"run", "-n", "70", "--oversubscribe", "true"}).error.empty());
}

TEST_CASE("several programs are one job, their ranks in the order in which they stand") {
  const words parts{"join", "variable", "WEFT_PROCESS", "variable", "WEFT_RANKS", "say"};
  const auto all = [&](words options) {
    options.insert(options.begin(), {"run", "--oversubscribe", "--tag-output"});
    for (const words& part : {words{"PROGRAM"}, parts, words{"a", ":", "-np", "3", "PROGRAM"}, parts, words{"b"}})
      options.insert(options.end(), part.begin(), part.end());
    return run(options);
  };
  const outcome one_each = all({"-n", "2"});
  CHECK(one_each.status == 0);
  CHECK(sorted_lines(one_each.output) == words{"[0] WEFT_PROCESS=0", "[0] WEFT_RANKS=5", "[0] a", "[1] WEFT_PROCESS=1",
                                               "[1] WEFT_RANKS=5", "[1] a", "[2] WEFT_PROCESS=2", "[2] WEFT_RANKS=5",
                                               "[2] b", "[3] WEFT_PROCESS=3", "[3] WEFT_RANKS=5", "[3] b",
                                               "[4] WEFT_PROCESS=4", "[4] WEFT_RANKS=5", "[4] b"});
  const outcome two_each = all({"-n", "2", "--ranks-per-process", "2"});
  CHECK(two_each.status == 0);
  CHECK(sorted_lines(two_each.output) == words{"[0-1] WEFT_PROCESS=0", "[0-1] WEFT_RANKS=5", "[0-1] a",
                                               "[2-3] WEFT_PROCESS=1", "[2-3] WEFT_RANKS=5", "[2-3] b",
                                               "[4] WEFT_PROCESS=2", "[4] WEFT_RANKS=5", "[4] b"});
  CHECK_THAT(all({"-n", "3", "--ranks-per-process", "2"}).error,
             ContainsSubstring("2 ranks do not evenly share the 3 before"));
  CHECK_THAT(all({"-n", "2", "--spares", "1"}).error, ContainsSubstring("all have to run the same program"));
  for (const words& bad : {words{"-n", "1", "true", ":"},
                           {"-n", "1", "true", ":", "-n", "1"},
                           {"-n", "1", ":", "true"},
                           {"-n", "1", "true", ":", "-n", "0", "true"},
                           {"-n", "1", "true", ":", "--hosts", "a", "true"}}) {
    words whole{"run"};
    whole.insert(whole.end(), bad.begin(), bad.end());
    CAPTURE(bad);
    CHECK(run(whole).status == 2);
  }
  CHECK_THAT(run({"run", "-n", "1", "true", ":", "false"}).error, ContainsSubstring("--ranks of false"));
  const outcome missing = run({"run", "-n", "1", "true", ":", "-n", "1", "no-such-program"});
  CHECK(missing.status == 127);
  CHECK_THAT(missing.error, ContainsSubstring("no-such-program"));
}

TEST_CASE("every rank has the cores that it is to have, and OpenMP knows") {
  {
    const weft_test::variable machine("HWLOC_SYNTHETIC", "numa:2 core:4 pu:1");
    const outcome bound =
        run({"run", "--oversubscribe", "--report-bindings", "-n", "2", "--cpus-per-rank", "3", "true"});
    CHECK_THAT(bound.error, ContainsSubstring("rank 0: cpus 0-2,") && ContainsSubstring("rank 1: cpus 4-6,"));
    const outcome hosting = run({"run", "--oversubscribe", "--report-bindings", "-n", "4", "--ranks-per-process", "2",
                                 "--cpus-per-rank", "2", "true"});
    CHECK_THAT(hosting.error, ContainsSubstring("ranks 0-1: cpus 0-3,") && ContainsSubstring("ranks 2-3: cpus 4-7,"));
    CHECK_THAT(run({"run", "-n", "3", "--cpus-per-rank", "3", "true"}).error,
               ContainsSubstring("3 ranks of 3 cores (--cpus-per-rank) share 8 cores"));
  }
  const auto threads = [](const words& options) {
    words all{"-n", "1", "--cpus-per-rank", "3"};
    all.insert(all.end(), options.begin(), options.end());
    return run(job(all, {"variable", "OMP_NUM_THREADS"})).output;
  };
  CHECK(threads({}) == "OMP_NUM_THREADS=3\n");
  CHECK(threads({"-x", "OMP_NUM_THREADS=2"}) == "OMP_NUM_THREADS=2\n");
  CHECK(run(job({"-n", "1"}, {"variable", "OMP_NUM_THREADS"})).output == "OMP_NUM_THREADS=(unset)\n");
  const weft_test::variable own("OMP_NUM_THREADS", "7");
  CHECK(threads({}) == "OMP_NUM_THREADS=7\n");
}

TEST_CASE("processes are bound to cores of their own") {
  CHECK_THAT(run(job({"-n", "1", "--bind-to", "core"}, {"mask"})).output, ContainsSubstring("cpus "));
  CHECK(run(job({"-n", "1", "--bind-to", "none"}, {"mask"})).output ==
        "cpus " + std::to_string(std::thread::hardware_concurrency()) + "\n");
}

TEST_CASE("where processes are bound is said") {
  const auto report = [](const words& options, const char* machine) {
    std::optional<weft_test::variable> described;
    if (machine != nullptr) described.emplace("HWLOC_SYNTHETIC", machine);
    words all{"run", "--oversubscribe", "--report-bindings"};
    all.insert(all.end(), options.begin(), options.end());
    all.push_back("true");
    return sorted_lines(run(all).error);
  };
  constexpr const char* two_nodes = "numa:2 core:2 pu:2";
  const std::string not_here = ", not bound: another machine is described";
  CHECK(report({"-n", "2", "--bind-to", "core"}, two_nodes) ==
        words{"weft run: rank 0: cpus 0-1, cores 0, NUMA node 0" + not_here,
              "weft run: rank 1: cpus 2-3, cores 1, NUMA node 0" + not_here});
  CHECK(report({"-n", "2", "--bindto", "core", "--map-by", "numa"}, two_nodes) ==
        words{"weft run: rank 0: cpus 0-1, cores 0, NUMA node 0" + not_here,
              "weft run: rank 1: cpus 4-5, cores 2, NUMA node 1" + not_here});
  CHECK(report({"-n", "4", "--ranks-per-process", "2", "--bind-to", "numa"}, two_nodes) ==
        words{"weft run: ranks 0-1: cpus 0-3, cores 0-1, NUMA node 0" + not_here,
              "weft run: ranks 2-3: cpus 4-7, cores 2-3, NUMA node 1" + not_here});
  CHECK_THAT(report({"-n", "1", "--bind-to", "none"}, nullptr).at(0), ContainsSubstring(", not bound"));
  CHECK_THAT(report({"-n", "1", "--bind-to", "core"}, nullptr).at(0), !ContainsSubstring("not bound"));
}

TEST_CASE("a timeout ends the job") {
  const outcome late = run(job({"-n", "2", "--timeout", "0.5"}, {"ignore", "15", "sleep", "60000"}));
  CHECK(late.status == 124);
  CHECK(late.time < 10s);
  CHECK_THAT(late.error, ContainsSubstring("did not end within 0.5 s (--timeout)"));
  CHECK(left_behind().empty());
}

TEST_CASE("a signal to the launcher ends everything") {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    launcher running(job({"-n", "2"}, {"say", "ready", "fork", "escape", "sleep", "60000"}));
    REQUIRE(running.said("ready", 2));
    running.signal(number);
    const auto begin = std::chrono::steady_clock::now();
    const outcome ended = running.wait();
    CHECK(ended.status == 128 + number);
    CHECK(std::chrono::steady_clock::now() - begin < 2s);
    CHECK(left_behind().empty());
  }
}

TEST_CASE("signals for the ranks are passed on to them") {
  launcher running(job({"-n", "2"}, {"block", "10", "block", "12", "say", "ready", "await", "10", "await", "12"}));
  REQUIRE(running.said("ready", 2));
  running.signal(SIGUSR1);
  REQUIRE(running.said("signal 10", 2));
  running.signal(SIGUSR2);
  const outcome ended = running.wait();
  CHECK(ended.status == 0);
  CHECK(ended.error.empty());
  CHECK_THAT(ended.output, ContainsSubstring("signal 12"));
}

TEST_CASE("after a signal that ends the job ranks have time to end by themselves") {
  const words slow{"block", "15", "say", "ready", "await", "15", "sleep", "1500", "say", "done"};
  for (const int number : {SIGTERM, SIGINT}) {
    launcher running(job({"-n", "2"}, slow));
    REQUIRE(running.said("ready", 2));
    running.signal(number);
    const outcome ended = running.wait();
    CHECK(ended.status == 128 + number);
    CHECK_THAT(ended.output, ContainsSubstring("done\ndone\n"));
  }
  const auto time_of = [](const words& options, int signals) {
    words all{"-n", "2"};
    all.insert(all.end(), options.begin(), options.end());
    launcher running(job(all, {"ignore", "15", "say", "ready", "sleep", "60000"}));
    REQUIRE(running.said("ready", 2));
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < signals; ++i) {
      running.signal(SIGTERM);
      std::this_thread::sleep_for(100ms);
    }
    CHECK(running.wait().status == 128 + SIGTERM);
    return std::chrono::steady_clock::now() - begin;
  };
  const auto limited = time_of({"--grace", "1.5"}, 1);
  CHECK(limited >= 1500ms);
  CHECK(limited < 6s);
  CHECK(time_of({"--grace", "0"}, 1) < 3s);
  CHECK(time_of({}, 1) >= 10s);
  CHECK(time_of({}, 2) < 5s);  // who asks twice does not want to wait
  CHECK(left_behind().empty());
}

TEST_CASE("a launcher that is killed takes the job with it") {
  launcher running(job({"-n", "2"}, {"region", "fork", "say", "ready", "sleep", "60000"}));
  REQUIRE(running.said("ready", 2));
  running.signal(SIGKILL);
  const outcome ended = running.wait();
  CHECK(ended.status == 137);
  CHECK_THAT(ended.output, ContainsSubstring("/dev/shm/"));
  CHECK(left_behind().empty());
  CHECK(regions_there(ended.output) == 0);
}

TEST_CASE("nothing is left behind") {
  const outcome good = run(job({"-n", "2"}, {"region", "fork", "escape", "say", "x"}));
  CHECK(good.status == 0);
  CHECK(sorted_lines(good.output).size() == 4);
  CHECK(left_behind().empty());
  CHECK(regions_there(good.output) == 0);
  const outcome bad = run(job({"-n", "2"}, {"region", "join", "only", "1", "signal", "9"}));
  CHECK(bad.status == 137);
  CHECK(sorted_lines(bad.output).size() == 2);
  CHECK(regions_there(bad.output) == 0);
}

TEST_CASE("regions of other processes stay") {
  const std::string other = "/dev/shm/" + std::to_string(::getpid()).append(":") + std::to_string(::getuid()) + ":0";
  ::close(::creat(other.c_str(), 0600));
  CHECK(run(job({"-n", "2"}, {"region"})).status == 0);
  CHECK(std::filesystem::exists(other));
  std::filesystem::remove(other);
}
