// SPDX-License-Identifier: Apache-2.0
// Who does not belong to the job gets nowhere, and does no harm.
#include <algorithm>
#include <thread>
#include <weft/fabric/monitor.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/socket.hpp>

#include "catch.hpp"
#include "monitor_job.hpp"

using namespace std::chrono_literals;
using weft::file_descriptor;
using weft_test::bytes_of;
using weft_test::ContainsSubstring;
using weft_test::monitor_job;

namespace {

using clock_type = std::chrono::steady_clock;

/// Reads until the other side ends the connection and returns when that was.
clock_type::duration time_until_dropped(const file_descriptor& socket) {
  const auto begin = clock_type::now();
  std::byte buffer[4096];
  while (weft::receive_some(socket, buffer, begin + 10s, "stranger") > 0) {
  }
  return clock_type::now() - begin;
}

/// The beginning of a hello, as every version writes it.
std::string hello_prefix(char wire, const std::string& version, const std::string& host) {
  std::string result = "weft-ctl";
  result += std::string{wire, 0, 0, 0} + std::string(4 + 8, '\0');
  result += version + std::string(40 - version.size(), '\0');
  result += host + std::string(64 - host.size(), '\0');
  return result;
}

}  // namespace

TEST_CASE("a stranger is dropped within a second") {
  monitor_job job(2);
  REQUIRE(job.settle());
  const std::string greeting =
      GENERATE(as<std::string>{}, "", "GET / HTTP/1.1\r\n\r\n", std::string(100'000, 'x'),
               hello_prefix(1, "0.1.0", "here"), hello_prefix(1, "0.1.0", "here") + std::string(200, '\1'));
  const auto socket = weft::connect_to(job.at(0).control_address(), clock_type::now() + 5s);
  try {
    weft::send_all(socket, bytes_of(greeting), clock_type::now() + 5s, "stranger");
  } catch (const weft::error&) {  // dropped before it had said everything
  }
  CHECK(time_until_dropped(socket) < 1500ms);
  CHECK(job.settle());
  CHECK(job.seen_by(0).lost().empty());
}

TEST_CASE("a crowd of strangers keeps nobody out") {
  monitor_job job(5, {}, false);
  std::vector<file_descriptor> crowd;
  for (int i = 0; i < 300; ++i)
    crowd.push_back(weft::connect_to(job.at(i % 5).control_address(), clock_type::now() + 5s));
  for (int i = 0; i < 5; ++i) job.start(i);
  CHECK(job.settle());
  for (int i = 0; i < 5; ++i) CHECK(job.seen_by(i).lost().empty());
}

TEST_CASE("who does not know the secret is lost to the others, and they to it") {
  monitor_job job(4, {}, false);
  for (int i = 0; i < 4; ++i) job.start(i, i == 2 ? "a guess" : weft_test::secret_of_the_job);
  REQUIRE(job.every_survivor([&](int i) { return i == 2 || job.at(i).lost(2); }));
  REQUIRE(job.seen_by(2).wait_until([&] { return job.seen_by(2).lost().size() == 3; }));
  for (int i = 0; i < 4; ++i) CHECK(job.seen_by(i).lost_processes() == (i == 2 ? std::set{0, 1, 3} : std::set{2}));
  bool named = false;
  for (int i = 0; i < 4; ++i) named = named || job.at(i).reason(2).find("secret") != std::string::npos;
  CHECK(named);
}

TEST_CASE("a process of another job with the same secret is not taken for one of this job") {
  monitor_job job(2, {}, false);
  job.start(0);
  job.at(1).start(1, job.records, 8, bytes_of(weft_test::secret_of_the_job), job.seen_by(1).events());
  REQUIRE(job.every_survivor([&](int i) { return job.at(i).lost(1 - i); }));
}

TEST_CASE("another build is refused by name, on both sides") {
  constexpr std::uint32_t other_wire = weft::fabric::build_identity::current_wire + 1;
  monitor_job job(2, {}, false);
  const auto listener = weft::listen_on("127.0.0.1");
  job.records[1].control = weft::local_address(listener);  // the other build
  job.start(0);
  REQUIRE(weft::wait_for(listener, 1 /* POLLIN */, clock_type::now() + 5s));
  const auto accepted = weft::accept_from(listener);
  const std::string answer = hello_prefix(other_wire, "0.2.0", "b") + "and what else that wire may say";
  weft::send_all(accepted, bytes_of(answer), clock_type::now() + 5s, "other build");
  REQUIRE(job.seen_by(0).wait_until([&] { return job.at(0).lost(1); }));
  CHECK_THAT(job.at(0).reason(1),
             ContainsSubstring("process 1 on host b runs weft 0.2.0 (wire " + std::to_string(other_wire) +
                               "), this one weft " + weft::fabric::this_build().version + " (wire " +
                               std::to_string(other_wire - 1) + ")"));

  const auto caller = weft::connect_to(job.at(0).control_address(), clock_type::now() + 5s);
  weft::send_all(caller, bytes_of(hello_prefix(other_wire, "0.2.0", "b")), clock_type::now() + 5s, "other build");
  std::byte reply[128];
  REQUIRE(weft::receive_some(caller, reply, clock_type::now() + 5s, "other build") == sizeof reply);
  CHECK(std::equal(reply, reply + 8, bytes_of("weft-ctl").begin()));
  CHECK(reply[8] == std::byte{weft::fabric::build_identity::current_wire});
}
