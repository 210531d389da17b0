// SPDX-License-Identifier: Apache-2.0
// `weft ps` and --stuck-after, on jobs that hang in a known way. It needs leave to trace processes.
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>
#include <weft/runtime/error.hpp>

#include "catch.hpp"
#include "frame_names.hpp"
#include "launcher_under_test.hpp"
#include "weft/roll_call/ask.hpp"
#include "weft/roll_call/report.hpp"
#include "weft/roll_call/summary.hpp"

using namespace std::chrono_literals;
using weft_test::ContainsSubstring;
using namespace weft::tools;

namespace {

std::vector<std::string> job_of(const std::vector<std::string>& options, const std::vector<std::string>& words) {
  std::vector<std::string> all{"run", "--oversubscribe", "-x", "WEFT_TUNE=off"};
  all.insert(all.end(), options.begin(), options.end());
  all.emplace_back("PROGRAM");
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

/// What `weft ps` says of the job, once it holds `text`; the last of what it has said where it never does.
std::string shown(const weft_test::launcher& job, const std::string& text,
                  const std::vector<std::string>& options = {}) {
  std::vector<std::string> arguments{"ps", std::to_string(job.pid())};
  arguments.insert(arguments.end(), options.begin(), options.end());
  std::string output;
  for (const auto deadline = std::chrono::steady_clock::now() + 60s; std::chrono::steady_clock::now() < deadline;) {
    const auto said = weft_test::run(arguments);
    output = said.output + said.error;
    if (output.find(text) != std::string::npos) return output;
    std::this_thread::sleep_for(200ms);
  }
  return output;
}

std::string line_of(const std::string& output, const std::string& begin) {
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(begin)) return line;
  return {};
}

}  // namespace

TEST_CASE("functions have the names that people read") {
  CHECK(plain_name("weft::handle::wait()") == "weft::handle::wait");
  CHECK(plain_name("bool weft::run_moves<weft::detail::board_party>(weft::detail::board_party&) [clone .isra.0]") ==
        "weft::run_moves");
  CHECK(plain_name("std::vector<int> (anonymous namespace)::all<int>(int (*)(int)) const") == "all");
  CHECK(plain_name("main") == "main");
}

TEST_CASE("a rank that waits for a message while the others sum is named, with the call, its place, and who waits") {
  const auto options =
      GENERATE(std::vector<std::string>{"-n", "4"}, std::vector<std::string>{"-n", "4", "--ranks-per-process", "4"},
               std::vector<std::string>{"-n", "4", "--ranks-per-process", "2"},
               std::vector<std::string>{"-n", "4", "--progress", "thread"},
               std::vector<std::string>{"-n", "4", "-x", "WEFT_NODE=off"});
  const weft_test::launcher job(job_of(options, {"recv", "2"}));
  REQUIRE(job.said("stuck", 1));
  const std::string output = shown(job, "; 3 others wait there");
  CHECK_THAT(output,
             ContainsSubstring(
                 "rank 2 has not entered allreduce 841 of communicator 0; it is in recv(from 0, tag 7, 8 B) for "));
  CHECK_THAT(line_of(output, "rank 2 has not"), ContainsSubstring(" at stuck_program.cpp:"));
  CHECK_THAT(line_of(output, "rank 0 (pid"), ContainsSubstring("is in allreduce 841 of communicator 0 for "));
  CHECK_THAT(output, ContainsSubstring("wait_for_message"));
  CHECK_THAT(output, ContainsSubstring("sum_with_others"));
}

TEST_CASE("a message that has come with another tag than the one waited for is shown") {
  const auto options =
      GENERATE(std::vector<std::string>{"-n", "3"}, std::vector<std::string>{"-n", "3", "-x", "WEFT_NODE=off"},
               std::vector<std::string>{"-n", "3", "--ranks-per-process", "3"});
  const weft_test::launcher job(job_of(options, {"tag", "2"}));
  REQUIRE(job.said("stuck", 1));
  const std::string output = shown(job, "where a message with tag 8 has come");
  CHECK_THAT(output, ContainsSubstring("it is in recv(from 0, tag 7, 8 B), where a message with tag 8 has come, for "));
  CHECK_THAT(output, ContainsSubstring("    message(from 0, tag 8, 8 B) has come, and no receive matches it\n"));
}

TEST_CASE("in a program without lines functions are named") {
  const char* const program = std::getenv("WEFT_TEST_LINELESS");
  REQUIRE(program != nullptr);
  const weft_test::launcher job({"run", "-n", "2", "--oversubscribe", "-x", "WEFT_TUNE=off", program, "recv", "1"});
  REQUIRE(job.said("stuck", 1));
  CHECK_THAT(line_of(shown(job, "; 1 other waits there"), "rank 1 has not"),
             ContainsSubstring(" in wait_for_message; 1 other"));
}

TEST_CASE("a rank that runs its own code, one that sleeps there, and one that is stopped are told apart") {
  SECTION("runs") {
    const weft_test::launcher job(job_of({"-n", "4"}, {"spin", "1"}));
    REQUIRE(job.said("stuck", 1));
    const std::string output = shown(job, "; 3 others wait there");
    CHECK_THAT(line_of(output, "rank 1 has not entered allreduce 841"),
               ContainsSubstring("it runs the program's own code at stuck_program.cpp:"));
    CHECK_THAT(output, ContainsSubstring("spin_in_own_code"));
  }
  SECTION("sleeps") {
    const weft_test::launcher job(job_of({"-n", "4"}, {"sleep", "3"}));
    REQUIRE(job.said("stuck", 1));
    const std::string output = shown(job, "; 3 others wait there");
    CHECK_THAT(line_of(output, "rank 3 has not entered allreduce 841"), ContainsSubstring("it sleeps outside of weft"));
  }
  SECTION("waits for what it has started") {
    const auto check = GENERATE("WEFT_CHECK=off", "WEFT_CHECK=on");
    const weft_test::launcher job(job_of({"-n", "3", "-x", check}, {"start", "1"}));
    REQUIRE(job.said("stuck", 1));
    const std::string output = shown(job, "; 1 other waits there");
    CHECK_THAT(line_of(output, "rank 1 (pid"), ContainsSubstring("is in weft::handle::wait for "));
    CHECK_THAT(line_of(output, "rank 1 (pid"), ContainsSubstring(" at stuck_program.cpp:"));
    CHECK_THAT(output, ContainsSubstring("ranks 0, 2 have not entered "));
  }
  SECTION("is stopped") {
    const weft_test::launcher job(job_of({"-n", "4"}, {"stop", "1"}));
    REQUIRE(job.said("stuck", 1));
    const std::string output = shown(job, "is stopped");
    CHECK_THAT(output, ContainsSubstring("rank 1 cannot be asked: its process 1 (pid "));
    CHECK_THAT(output, ContainsSubstring("is stopped at stuck_program.cpp:"));
  }
}

TEST_CASE("weft run says once who is stuck, and before it ends a job whose time is over") {
  SECTION("--stuck-after") {
    const auto ended = weft_test::run(job_of({"-n", "4", "--stuck-after", "1", "--timeout", "20"}, {"recv", "2"}));
    CHECK(ended.status == 124);
    const std::string said = "weft run: nothing has moved for 1 s (--stuck-after)";
    const std::size_t at = ended.error.find(said);
    REQUIRE(at != std::string::npos);
    CHECK(ended.error.find(said, at + 1) == std::string::npos);
    CHECK_THAT(ended.error.substr(at), ContainsSubstring("rank 2 has not entered allreduce 841 of communicator 0"));
    CHECK_THAT(ended.error.substr(at), ContainsSubstring("weft run: when the time was over:\n"));
  }
  SECTION("a job that moves") {
    const auto ended =
        weft_test::run({"run", "-n", "2", "--oversubscribe", "--stuck-after", "0.5", "PROGRAM", "none", "0"});
    CHECK(ended.status == 0);
    CHECK(ended.error.empty());
  }
}

TEST_CASE("a rank that keeps its thread from others is warned of once, with its stack") {
  SECTION("for ever, in a std::mutex that another rank of the thread holds") {
    const auto ended = weft_test::run(
        job_of({"-n", "4", "--ranks-per-process", "2", "--workers", "1", "--timeout", "8"}, {"mutex", "3"}));
    CHECK(ended.status == 124);
    const std::string warning = line_of(ended.error, "weft: warning: rank 3 keeps its thread (");
    CHECK_THAT(warning, ContainsSubstring(", blocked in a system call) for ") &&
                            ContainsSubstring("1 other rank is on that thread") &&
                            ContainsSubstring("runtime.blocking") && ContainsSubstring("`weft ps "));
    const std::size_t shown = ended.error.find("weft run: rank 3 (pid ");
    REQUIRE(shown != std::string::npos);
    CHECK_THAT(line_of(ended.error, "weft run: rank 3 (pid "), ContainsSubstring("keeps its thread here:"));
    const std::string stack = ended.error.substr(shown);
    CHECK_THAT(stack, ContainsSubstring("lock_forever") && ContainsSubstring("stuck_program.cpp:"));
    CHECK(ended.error.find("weft: warning:", ended.error.find("weft: warning:") + 1) == std::string::npos);
    CHECK(ended.error.find("keeps its thread here", shown + 100) == std::string::npos);
  }
  SECTION("for some time, with work of its own") {
    const auto ended = weft_test::run(job_of({"-n", "3", "--ranks-per-process", "3", "--workers", "1"}, {"work", "1"}));
    CHECK(ended.status == 0);
    CHECK_THAT(ended.error, ContainsSubstring("weft: warning: rank 1 keeps its thread (") &&
                                ContainsSubstring("2 other ranks are on that thread") &&
                                ContainsSubstring("work_in_own_code"));
  }
}

TEST_CASE("who keeps its thread from nobody is not warned of") {
  const auto how = GENERATE(as<std::string>(), "alone", "yield", "blocking");
  const auto each = GENERATE(as<std::string>(), "1", "2");
  CAPTURE(how, each);
  const auto ended = weft_test::run(job_of({"-n", "2", "--ranks-per-process", each, "--workers", "1"}, {how, "1"}));
  CHECK(ended.status == 0);
  CHECK(ended.error.empty());
}

TEST_CASE("weft ps lists jobs, and knows one by the beginning of its name") {
  const weft_test::launcher job(job_of({"-n", "2"}, {"sleep", "0"}));
  REQUIRE(job.said("stuck", 1));
  std::string name;
  for (const roll_socket& each : find_sockets())
    if (each.pid == job.pid()) name = each.job;
  REQUIRE(name.size() == 16);
  CHECK_THAT(weft_test::run({"ps"}).output, ContainsSubstring(name));
  CHECK_THAT(weft_test::run({"ps", name.substr(0, 12)}).output,
             ContainsSubstring("job " + name + ": 2 ranks in 2 of 2 processes"));
  CHECK_THAT(weft_test::run({"ps", name, "--short"}).output, ContainsSubstring("  rank 0: sleeps outside of weft"));
  CHECK(weft_test::run({"ps", "nosuchjob"}).status == 2);
  std::istringstream lines(weft_test::run({"ps", name, "--json"}).output);
  int ranks = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto process = nlohmann::json::parse(line);
    CHECK(process["job"] == name);
    for (const auto& rank : process["ranks"]) {
      CHECK(rank["communicators"][0]["size"] == 2);
      CHECK(!rank["stack"].empty());
      ++ranks;
    }
  }
  CHECK(ranks == 2);
}

TEST_CASE("what a roll says survives the way, and what no process writes is refused") {
  roll_process its;
  its.job = "00ff";
  its.host = "n 1%\n";
  its.problems = {"a = b"};
  roll_rank rank;
  rank.rank = 5;
  rank.state = 'T';
  rank.quiet = 12;
  rank.keeps = 7;
  roll_member member;
  member.begun = 842;
  member.call = "allreduce";
  member.latest = "allreduce(sum, double, count 1 elements)";
  roll_operation message;
  message.kind = "recv";
  message.tag = 7;
  message.blocks = true;
  member.operations.push_back(message);
  rank.members.push_back(member);
  rank.frames.push_back({"f<int>(char)", "/a b.cpp", 88, "/bin/x", frame_owner::weft});
  its.ranks.push_back(rank);
  const std::string text = to_text({its});
  const auto again = parse_roll(text);
  REQUIRE(again.size() == 1);
  CHECK(to_text(again) == text);
  CHECK(again[0].host == its.host);
  CHECK(again[0].ranks[0].keeps == 7);
  CHECK(again[0].ranks[0].frames[0].function == "f<int>(char)");
  CHECK(again[0].ranks[0].frames[0].whose == frame_owner::weft);
  CHECK(parse_roll("process job=1\nrank rank=1\n")[0].problems.size() == 1);
  CHECK(parse_roll("process job=1 new=2\nnovel x=1\nend\n")[0].problems.empty());
  for (const char* const wrong : {"rank rank=1\n", "process job\n", "process number=x\n", "process host=%4\n",
                                  "process\nmember rank=1\n", "process\nrank rank=1\noperation peer=2\n"})
    CHECK_THROWS_AS(parse_roll(wrong), weft::error);
}

TEST_CASE("sockets of weft are told from others'") {
  const std::string table =
      "Num       RefCount Protocol Flags    Type St Inode Path\n"
      "0: 00000002 00000000 00010000 0001 01 22 @weft-1000-00000000000000ff-3-4711\n"
      "0: 00000003 00000000 00000000 0001 03 23 @weft-1000-00000000000000ff-3-4711\n"
      "0: 00000002 00000000 00010000 0001 01 24 @weft-1000-00000000000000ff-run-4700\n"
      "0: 00000002 00000000 00010000 0001 01 25 @weft-1001-00000000000000ff-1-4712\n"
      "0: 00000002 00000000 00010000 0001 01 26 @weft-1000-xyz-1-4713\n"
      "0: 00000002 00000000 00010000 0001 01 27 @weft-1000-ff-1\n"
      "0: 00000002 00000000 00010000 0001 01 28 /run/weft-1000-ff-1-1\n";
  const auto found = parse_sockets(table, 1000);
  REQUIRE(found.size() == 2);
  CHECK(found[0].process == 3);
  CHECK(found[0].pid == 4711);
  CHECK(found[1].is_launcher());
  CHECK(parse_sockets(table, 0).size() == 3);
}
