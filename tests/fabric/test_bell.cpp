// SPDX-License-Identifier: Apache-2.0
// How one process wakes another one: the monitor's bell.
#include <arpa/inet.h>
#include <sys/socket.h>

#include <thread>

#include "catch.hpp"
#include "fabric/monitor_job.hpp"

using namespace std::chrono_literals;
using weft_test::monitor_job;

TEST_CASE("who listens hears a ring, once") {
  monitor_job job(2);
  job.at(1).listen();
  job.at(0).ring(1);
  REQUIRE(job.seen_by(1).wait_until([&] { return job.seen_by(1).rings() == 1; }));
  job.at(0).ring(1);  // nobody listens
  std::this_thread::sleep_for(50ms);
  CHECK(job.seen_by(1).rings() == 1);
  CHECK(job.seen_by(0).rings() == 0);
}

TEST_CASE("what rang while nobody listened is heard when somebody does") {
  monitor_job job(2);
  for (int i = 0; i < 1000; ++i) job.at(0).ring(1);
  std::this_thread::sleep_for(50ms);
  REQUIRE(job.seen_by(1).rings() == 0);
  job.at(1).listen();
  REQUIRE(job.seen_by(1).wait_until([&] { return job.seen_by(1).rings() == 1; }));
  job.at(1).listen();
  std::this_thread::sleep_for(50ms);
  CHECK(job.seen_by(1).rings() == 1);  // they were one
}

TEST_CASE("every process can be rung by every other, by IPv4 and IPv6") {
  const std::string address = GENERATE("127.0.0.1", "::1");
  CAPTURE(address);
  monitor_job job(5, {.address = address});
  for (int to = 0; to < job.size(); ++to) {
    for (int from = 0; from < job.size(); ++from) {
      if (from == to) continue;
      const int before = job.seen_by(to).rings();
      job.at(to).listen();
      job.at(from).ring(to);
      CAPTURE(from, to);
      REQUIRE(job.seen_by(to).wait_until([&] { return job.seen_by(to).rings() == before + 1; }));
    }
  }
}

TEST_CASE("rings at processes that are gone do not keep others from being rung") {
  monitor_job job(3);
  job.kill(1);
  for (int round = 0; round < 20; ++round) {
    job.at(0).ring(1);
    job.at(2).listen();
    job.at(0).ring(2);
    REQUIRE(job.seen_by(2).wait_until([&] { return job.seen_by(2).rings() == round + 1; }));
  }
}

TEST_CASE("a stranger's datagrams wake, and do no harm") {
  monitor_job job(2);
  const std::string& control = job.at(1).control_address();
  sockaddr_in there{};
  there.sin_family = AF_INET;
  there.sin_port = htons(static_cast<std::uint16_t>(std::stoi(control.substr(control.rfind(':') + 1))));
  REQUIRE(inet_pton(AF_INET, "127.0.0.1", &there.sin_addr) == 1);
  const weft::file_descriptor stranger(::socket(AF_INET, SOCK_DGRAM, 0));
  const std::string much(60'000, 'x');
  job.at(1).listen();
  // The first may be too long for the bell's buffer; an empty one is a ring.
  ::sendto(stranger.get(), much.data(), much.size(), 0, reinterpret_cast<const sockaddr*>(&there), sizeof there);
  ::sendto(stranger.get(), nullptr, 0, 0, reinterpret_cast<const sockaddr*>(&there), sizeof there);
  REQUIRE(job.seen_by(1).wait_until([&] { return job.seen_by(1).rings() == 1; }));
  job.at(1).listen();
  job.at(0).ring(1);
  REQUIRE(job.seen_by(1).wait_until([&] { return job.seen_by(1).rings() >= 2; }));
  REQUIRE(job.settle());
}
