// SPDX-License-Identifier: Apache-2.0
// How jobs come together, and when they must not.
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <weft/fabric/process_record.hpp>
#include <weft/fabric/provider.hpp>
#include <weft/runtime/socket.hpp>

#include "catch.hpp"
#include "setting.hpp"
#include "tools/launcher_under_test.hpp"

using namespace std::chrono_literals;
using namespace weft_test;

namespace {

using words = std::vector<std::string>;

const std::string other_wire = std::to_string(weft::fabric::build_identity::current_wire + 1);

words job(int ranks, const words& options, const words& arguments) {
  words command{"run", "-n", std::to_string(ranks), "--oversubscribe", "--timeout", seconds_of_a_job};
  command.insert(command.end(), options.begin(), options.end());
  command.push_back("PROGRAM");
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

/// A rank that `weft run` did not start, with `variables` in its environment.
outcome alone(const words& variables) {
  words command{"run", "-n",         "1",  "--timeout",    "60", "env",
                "-u",  "WEFT_JOB",   "-u", "WEFT_PROCESS", "-u", "WEFT_PROCESSES",
                "-u",  "WEFT_STORE", "-u", "WEFT_SECRET",  "-u", "WEFT_RANKS"};
  command.insert(command.end(), variables.begin(), variables.end());
  command.insert(command.end(), {"PROGRAM", "meet"});
  return run(command);
}

words other_launcher(const std::string& address) {
  return {"WEFT_JOB=5",
          "WEFT_PROCESS=0",
          "WEFT_PROCESSES=2",
          "WEFT_STORE=" + address,
          "WEFT_SECRET=0123456789abcdef0123456789abcdef",
          "WEFT_JOIN_TIMEOUT=1500"};
}

/// Whether a job that was allowed so many open files failed; it has to end soon, and to say why.
bool fails_by_limit(const outcome& ended, int files) {
  CHECK(ended.time < std::chrono::seconds(20 * slowdown));
  if (ended.status != 0)
    CHECK_THAT(ended.error, ContainsSubstring("RLIMIT_NOFILE lets this process have " + std::to_string(files)));
  return ended.status != 0;
}

}  // namespace

TEST_CASE("a job whose processes may not open enough files says so and ends", "[files]") {
  const std::string provider = GENERATE(std::string("node"), weft::fabric::default_provider());
  bool failed = false;
  // From what no process starts with to what is enough.
  for (int files = 6; files < 40; files += files < 22 ? 1 : 6) {
    std::vector<std::string> command{
        "run", "-n", "2", "--oversubscribe", "--timeout", seconds_of_a_job, "-x", "WEFT_JOIN_TIMEOUT=3000"};
    for (const std::string& option : road_options(provider)) command.push_back(option);
    command.insert(command.end(), {"sh", "-c", "ulimit -n " + std::to_string(files) + "; exec \"$0\" compute 3",
                                   std::getenv("WEFT_TEST_PROGRAM")});
    const outcome ended = run(command);
    INFO(files << " files over " << provider << "\n" << ended.output << ended.error);
    failed |= fails_by_limit(ended, files);
  }
  CHECK(failed);
  CHECK(left_behind().empty());
}

TEST_CASE("a launcher that may not open enough files says so and ends", "[files]") {
  bool failed = false;
  // From what the command starts with to what is enough.
  for (int files = 6; files < 24; ++files) {
    const outcome ended = run({"run", "-n", "1", "--timeout", seconds_of_a_job, "sh", "-c",
                               "ulimit -n " + std::to_string(files) +
                                   "; exec \"$0\" run -n 2 --oversubscribe -x WEFT_JOIN_TIMEOUT=3000 \"$1\" compute 3",
                               std::getenv("WEFT_TEST_COMMAND"), std::getenv("WEFT_TEST_PROGRAM")});
    INFO(files << " files\n" << ended.output << ended.error);
    failed |= fails_by_limit(ended, files);
  }
  CHECK(failed);
  CHECK(left_behind().empty());
}

TEST_CASE("a job takes no room of /dev/shm and of the temporary directory", "[room]") {
  // Of this program and what it starts alone.
  if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    skip("this user may not mount anything");
  // From no room at all to what is enough for a provider that takes some.
  for (const std::string kilobytes : {"4", "4096", "16384", "65536"}) {
    const std::string how = "size=" + kilobytes + "k";
    REQUIRE(::mount("none", "/dev/shm", "tmpfs", 0, how.c_str()) == 0);
    for (const std::string& provider : {std::string("node"), weft::fabric::default_provider(), std::string("shm")}) {
      words options{"-x", "WEFT_JOIN_TIMEOUT=3000"};
      for (const std::string& option : road_options(provider)) options.push_back(option);
      const outcome ended = run(job(2, options, {"compute", "3"}));
      INFO(kilobytes << " KiB, " << provider << "\n" << ended.error);
      CHECK(ended.time < std::chrono::seconds(20 * slowdown));
      CHECK((ended.status == 0 || provider == "shm"));
      if (ended.status != 0) CHECK_THAT(ended.error, ContainsSubstring("provider \"shm\" is not to be had here"));
      CHECK(std::filesystem::is_empty("/dev/shm"));
    }
    ::umount("/dev/shm");
  }
  REQUIRE(::mount("none", "/mnt", "tmpfs", MS_RDONLY, nullptr) == 0);
  CHECK(run(job(2, {"-x", "TMPDIR=/mnt"}, {"compute", "3"})).status == 0);
  ::umount("/mnt");
  CHECK(left_behind().empty());
}

TEST_CASE("incompatible builds refuse each other by name", "[joining]") {
  for (const std::string stranger : {"0", "2"}) {
    const outcome refused = run(job(3, {"--on-failure", "continue"}, {"meet", "other-wire", stranger}));
    INFO(refused.error);
    CHECK(refused.status == 4);
    CHECK_THAT(refused.error, ContainsSubstring("process " + stranger + " on host "));
    CHECK_THAT(refused.error, ContainsSubstring("runs weft 9.9.9 (wire " + other_wire + "), this one weft "));
    CHECK(refused.time < 10s);
  }
  const outcome refused = run(job(2, {"--on-failure", "continue"}, {"meet", "not-weft", "1"}));
  CHECK(refused.status == 4);
  CHECK_THAT(refused.error, ContainsSubstring("process 1 is not weft"));
}

TEST_CASE("processes are divided by node and by NUMA node, bound or not", "[joining]") {
  for (const char* binding : {"core", "none"})
    for (const char* each : {"1", "2"}) {
      const outcome ended = run(job(4, {"--bind-to", binding, "--ranks-per-process", each}, {"near"}));
      INFO(binding << ", " << each << " ranks a process: " << ended.error);
      CHECK(ended.status == 0);
      CHECK_THAT(ended.output, ContainsSubstring("4 ranks, "));
    }
}

TEST_CASE("a launcher that does not answer is an error, never a job of one", "[joining]") {
  std::string closed;
  {
    const weft::file_descriptor listener = weft::listen_on("127.0.0.1");
    closed = weft::local_address(listener);
  }
  const outcome nobody = alone(other_launcher(closed));
  INFO(nobody.error << nobody.output);
  CHECK(nobody.status == 4);
  CHECK_THAT(nobody.error, ContainsSubstring(closed));
  const weft::file_descriptor silent = weft::listen_on("127.0.0.1");  // the kernel accepts, nobody speaks
  const outcome mute = alone(other_launcher(weft::local_address(silent)));
  INFO(mute.error << mute.output);
  CHECK(mute.status == 4);
  CHECK_THAT(mute.error, ContainsSubstring(weft::local_address(silent)));
  CHECK(mute.time < 15s);
  const outcome deaf = alone({"PMI_SIZE=4", "PMI_RANK=0", "PMI_FD=7"});
  INFO(deaf.error << deaf.output);
  CHECK(deaf.status == 4);
  CHECK_THAT(deaf.error, ContainsSubstring("PMI_FD=7"));
  for (const words& foreign : {words{"SLURM_PROCID=1", "SLURM_STEP_NUM_TASKS=3"}, words{"OMPI_COMM_WORLD_SIZE=2"}}) {
    const outcome other = alone(foreign);
    INFO(other.error << other.output);
    CHECK(other.status == 4);
    CHECK_THAT(other.error, ContainsSubstring("no rendezvous that weft speaks"));
  }
  const outcome single = alone({"SLURM_PROCID=0", "SLURM_STEP_NUM_TASKS=1"});
  CHECK(single.status == 0);
  CHECK(single.output == "1 ranks\n");
}

TEST_CASE("large jobs start, and small ones again and again", "[starts]") {
  for (const int ranks : {16, 32}) {
    const outcome started = run(job(ranks, {}, {"meet"}));
    INFO(started.error);
    CHECK(started.output == std::to_string(ranks) + " ranks\n");
    std::printf("%d processes: %.2f s\n", ranks, static_cast<double>(started.time.count()) / 1e3);
  }
  const int times = setting("STARTS", 30);
  double total = 0, longest = 0;
  for (int i = 0; i < times; ++i) {
    const outcome started = run(job(2, {}, {"meet"}));
    INFO("start " << i << ": " << started.error);
    REQUIRE(started.output == "2 ranks\n");
    total += static_cast<double>(started.time.count());
    longest = std::max(longest, static_cast<double>(started.time.count()));
  }
  std::printf("%d starts of two processes: %.0f ms each, %.0f ms the longest\n", times, total / times, longest);
  CHECK(left_behind().empty());
}

TEST_CASE("an aborted communicator lets go of its memory at once", "[abort]") {
  for (const words& options : {words{}, words{"--progress", "thread"}, words{"--ranks-per-process", "2"}}) {
    const int times = setting("ABORTS", slowdown == 1 ? 40 : 12);  // each maps its memory afresh
    const outcome given_up =
        run(job(4, options, {"give_up", std::to_string(setting("SEED", 1)), std::to_string(times)}));
    INFO(given_up.error << given_up.output);
    CHECK(given_up.status == 0);
    std::printf("aborts: %.1f s, %s", static_cast<double>(given_up.time.count()) / 1e3, given_up.output.c_str());
  }
}

TEST_CASE("more than 4 GiB at once", "[much]") {
  if (setting("LARGE", 0) == 0) skip("takes 10 GiB of memory; WEFT_TEST_LARGE=1 runs it");
  for (const words& what : {words{"move_much", "message", "4831838208"}, words{"move_much", "sum", "2147487748"}}) {
    const outcome moved = run(job(2, {}, what));
    INFO(moved.error);
    CHECK(moved.status == 0);
    std::printf("%s of %s bytes: %.1f s\n", what[1].c_str(), what[2].c_str(),
                static_cast<double>(moved.time.count()) / 1e3);
  }
}
