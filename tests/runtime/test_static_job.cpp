// SPDX-License-Identifier: Apache-2.0
// Jobs without a launcher: their words, and how their processes meet.
#include <chrono>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
#include <weft/runtime/challenge.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/launch.hpp>

#include "catch.hpp"
#include "runtime/served_store.hpp"
#include "temporary_file.hpp"

using weft::launch_description;
using weft_test::ContainsSubstring;
using weft_test::error_of;
using weft_test::soon;
using weft_test::temporary_file;
using namespace std::chrono_literals;

namespace {

auto in(std::chrono::milliseconds time) { return weft::store::clock::now() + time; }

/// One of three machines, on this one's loopback; with a port of its own.
launch_description of_three(int process) {
  static const std::string secret = weft::make_secret();
  static const std::uint16_t port = [] {
    const std::string address = weft::local_address(weft::listen_on("127.0.0.1"));
    return static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
  }();
  launch_description job;
  job.hosts = {"127.0.0.1", "127.0.0.2", "127.0.0.3"};
  job.process = process;
  job.secret = secret;
  job.port = port;
  return job;
}

/// What each of these throws, all at a time; "no error" of those that do not.
std::vector<std::string> all_at_once(const std::vector<std::function<void()>>& processes, weft::errc expected) {
  std::vector<std::string> said(processes.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < processes.size(); ++i)
    threads.emplace_back([&, i] {
      try {
        said[i] = error_of(processes[i], expected);
      } catch (const std::exception& failure) {
        said[i] = failure.what();
      }
    });
  for (auto& each : threads) each.join();
  return said;
}

std::function<void()> joins(launch_description job, std::chrono::milliseconds time) {
  return [=] { weft::join_described(job, in(time)); };
}

/// CHECK is not for threads.
void expect(bool is, const char* what) {
  if (!is) throw std::runtime_error(what);
}

weft::environment described_by(const std::string& file) {
  return [file](const char* name) -> const char* {
    return std::string_view(name) == "WEFT_JOB"        ? "static"
           : std::string_view(name) == "WEFT_JOB_FILE" ? file.c_str()
                                                       : nullptr;
  };
}

}  // namespace

TEST_CASE("the words of a job without a launcher are read", "[static]") {
  const temporary_file secret("  0123456789abcdef0123\n");
  const temporary_file words("quiet root=/dev/ram0 weft.hosts=10.0.0.1,fd00::2 weft.rank=1\nweft.secret=" +
                             secret.path() + " weft.port=4000 weft.job=18446744073709551615 weft.tune=off ro");
  const auto job = weft::find_description(described_by(words.path()));
  REQUIRE(job);
  CHECK(job->hosts == std::vector<std::string>{"10.0.0.1", "fd00::2"});
  CHECK(job->process == 1);
  CHECK(job->secret == "0123456789abcdef0123");
  CHECK(job->port == 4000);
  CHECK(job->job == 18446744073709551615u);
  CHECK(job->options == std::vector<std::pair<std::string, std::string>>{{"tune", "off"}});
  CHECK(weft::in_job(described_by(words.path())));
  CHECK_FALSE(weft::launched(described_by(words.path())));
  CHECK_FALSE(weft::find_description([](const char*) -> const char* { return nullptr; }));

  const auto refused = [&](const std::string& text) {
    return error_of([&] { weft::read_description(text, "FILE"); }, weft::errc::invalid_argument);
  };
  const std::string has_secret = "weft.secret=" + secret.path();
  CHECK_THAT(refused(has_secret), ContainsSubstring("FILE has no weft.hosts="));
  CHECK_THAT(refused("weft.hosts=10.0.0.1"), ContainsSubstring("FILE has no weft.secret="));
  for (const char* word : {"weft.rank=-1", "weft.rank=one", "weft.port=0", "weft.port=65536", "weft.job=1x"})
    CHECK_THAT(refused(has_secret + " weft.hosts=10.0.0.1 " + word),
               ContainsSubstring("FILE: " + std::string(word) + ": a whole number from"));
  CHECK_THROWS_WITH(
      weft::read_description("weft.secret=/nowhere/at/all", "FILE"),
      ContainsSubstring("weft.secret") && ContainsSubstring("/nowhere/at/all") && ContainsSubstring("errno 2"));
  CHECK_THROWS_WITH(weft::find_description(described_by("/nowhere/words")),
                    ContainsSubstring("WEFT_JOB=static") && ContainsSubstring("/nowhere/words"));
}

TEST_CASE("processes without a launcher meet, in whatever order they come", "[static]") {
  const int first = GENERATE(0, 1, 2);
  std::vector<std::function<void()>> processes;
  for (int p = 0; p < 3; ++p)
    processes.emplace_back([=] {
      if (p != first) std::this_thread::sleep_for(200ms * (p + 1));
      const weft::joined_job job = weft::join_described(of_three(p), soon());
      expect(job.rendezvous->process() == p, "its number");
      expect(to_string(job.place) == "0 of 1 on node " + std::to_string(p) + " of 3", "its place");
      expect(weft_test::all_met(*job.rendezvous), "all to meet");
    });
  CHECK(all_at_once(processes, weft::errc::no_rendezvous) == std::vector<std::string>(3, "no error"));
}

TEST_CASE("who has not come is named to all that wait", "[static]") {
  SECTION("by the rendezvous") {
    const auto said = all_at_once({joins(of_three(0), 1500ms), joins(of_three(1), 60s)}, weft::errc::peer_lost);
    for (const std::string& each : said)
      CHECK_THAT(each, ContainsSubstring("process 2 of the job at 127.0.0.3 has not come in time"));
    CHECK_THAT(said[1], ContainsSubstring("process 1 of 3 of a job without a launcher: "));
  }
  SECTION("to who waits for less long") {
    std::string said;
    const auto all = all_at_once(
        {joins(of_three(0), 2s), [&] { said = error_of(joins(of_three(2), 500ms), weft::errc::timed_out); }},
        weft::errc::peer_lost);
    CHECK_THAT(said, ContainsSubstring("process 1 at 127.0.0.2 has not come in time"));
    // What has come and gone is lost sooner.
    CHECK_THAT(all[0], ContainsSubstring("process 2 of the job ended before it came") ||
                           ContainsSubstring("process 1 of the job at"));
  }
  SECTION("where it is the rendezvous") {
    CHECK_THAT(error_of(joins(of_three(1), 500ms), weft::errc::no_rendezvous),
               ContainsSubstring("process 0 has not come in time") && ContainsSubstring("127.0.0.1:"));
  }
}

TEST_CASE("a job without a launcher refuses whom it does not know", "[static]") {
  const auto with = [](int process, auto change) {
    launch_description job = of_three(process);
    change(job);
    return job;
  };
  const auto zero = joins(of_three(0), 1s);
  const auto of_stranger = [&](const launch_description& other) {
    return all_at_once({[&] { error_of(zero, weft::errc::peer_lost); }, joins(other, 800ms)},
                       weft::errc::no_rendezvous)[1];
  };
  CHECK_THAT(of_stranger(with(1, [](auto& job) { job.secret[0] ^= 1; })), ContainsSubstring("weft.secret"));
  CHECK_THAT(of_stranger(with(1, [](auto& job) { ++job.job; })), ContainsSubstring("weft.job"));
  CHECK_THAT(of_stranger(with(1, [](auto& job) { job.hosts.push_back("127.0.0.4"); })),
             ContainsSubstring("its job has no process 1 of 4"));
  const auto twice = all_at_once({[&] { error_of(zero, weft::errc::peer_lost); }, joins(of_three(1), 800ms),
                                  [&] {
                                    std::this_thread::sleep_for(300ms);
                                    joins(of_three(1), 400ms)();
                                  }},
                                 weft::errc::no_rendezvous);
  CHECK_THAT(twice[2], ContainsSubstring("process 1 of 3 has joined already") && ContainsSubstring("weft.rank"));
}

TEST_CASE("a process finds which of a job's it is", "[static]") {
  launch_description job = of_three(-1);
  CHECK_THAT(error_of([&] { weft::await_process(job, soon()); }, weft::errc::invalid_argument),
             ContainsSubstring("processes 0 and 1 are both on this machine") && ContainsSubstring("weft.rank"));
  job.hosts = {"198.51.100.77", "127.0.0.1", "203.0.113.77"};  // of documentation: no machine has these
  CHECK(weft::await_process(job, soon()) == 1);
  job.process = 2;
  CHECK_THAT(error_of([&] { weft::await_process(job, in(200ms)); }, weft::errc::invalid_argument),
             ContainsSubstring("process 2 is to be at 203.0.113.77, which is no address of this machine, which has") &&
                 ContainsSubstring("127.0.0.1"));
  job.process = -1;
  job.hosts = {"198.51.100.77"};
  CHECK_THAT(error_of([&] { weft::await_process(job, in(200ms)); }, weft::errc::invalid_argument),
             ContainsSubstring("none of its hosts is an address of this machine"));
  const auto refused = [&] {
    return error_of([&] { weft::await_process(job, soon()); }, weft::errc::invalid_argument);
  };
  job.hosts = {"127.0.0.1", "node2"};
  CHECK_THAT(refused(), ContainsSubstring("\"node2\" among its hosts is no numeric address"));
  job.hosts = {"127.0.0.1"};
  job.process = 1;
  CHECK_THAT(refused(), ContainsSubstring("process 1 of 1"));
  job.process = 0;
  job.secret = "short";
  CHECK_THAT(refused(), ContainsSubstring("its secret has 5 characters; 16 are needed"));
}

TEST_CASE("a daemon hands its sockets over", "[static]") {
  weft::file_descriptor listener = weft::listen_on("127.0.0.1");
  const std::string address = weft::local_address(listener);
  launch_description zero = of_three(0), one = of_three(1);
  zero.hosts.resize(2), one.hosts.resize(2);
  zero.rendezvous = listener.release();
  one.rendezvous = weft::connect_to(address, soon()).release();
  zero.port = one.port = static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
  const auto meets = [](const launch_description& job) {
    return [&job] {
      const weft::joined_job joined = weft::join_described(job, soon());
      expect(weft_test::all_met(*joined.rendezvous), "all to meet");
    };
  };
  CHECK(all_at_once({meets(zero), meets(one)}, weft::errc::no_rendezvous) == std::vector<std::string>(2, "no error"));
}
