// SPDX-License-Identifier: Apache-2.0
// What the launcher and its agents say to each other, and whom it lets in.
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <functional>
#include <thread>
#include <weft/runtime/challenge.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/tcp_store.hpp>

#include "catch.hpp"
#include "sanitized.hpp"
#include "tools/agents/acceptor.hpp"
#include "tools/agents/agent_link.hpp"
#include "tools/agents/agent_protocol.hpp"

using namespace std::chrono_literals;
using namespace weft::tools;
using clock_type = event_loop::clock;

namespace {

void run(event_loop& loop, const std::function<bool()>& done) {
  const auto deadline = clock_type::now() + 30s;
  while (!done() && clock_type::now() < deadline) loop.wait(clock_type::now() + 5ms);
  CHECK(done());
}

long resident_pages() {
  long size = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident;
}

weft::file_descriptor never_abandoned() {
  std::array<int, 2> ends;
  REQUIRE(::pipe(ends.data()) == 0);
  static weft::file_descriptor kept;
  kept.reset(ends[1]);
  return weft::file_descriptor(ends[0]);
}

/// An acceptor of this machine, whose event loop runs while a connection is tried.
struct waiting_launcher {
  std::string secret = weft::make_secret();
  event_loop loop;
  std::vector<int> accepted;
  std::vector<weft::file_descriptor> sockets;
  acceptor accepting{loop, {"127.0.0.1"}, secret, 4, [this](int host, weft::file_descriptor socket) {
                       accepted.push_back(host);
                       sockets.push_back(std::move(socket));
                     }};

  /// What comes of an agent that thinks that this is the secret.
  std::string connect(const std::string& known, int host, std::vector<std::string> addresses) {
    std::string outcome;
    bool over = false;
    std::thread agent([&] {
      try {
        const auto stay = never_abandoned();
        connect_to_launcher(addresses, known, host, stay, clock_type::now() + 300ms);
      } catch (const weft::error& failure) {
        outcome = failure.what();
      }
      over = true;
    });
    const auto deadline = clock_type::now() + 10s;
    while (!std::atomic_ref(over).load() && clock_type::now() < deadline) loop.wait(clock_type::now() + 5ms);
    agent.join();
    return outcome;
  }
};

}  // namespace

TEST_CASE("what launcher and agents say survives the way, whatever bytes it has") {
  orders sent;
  sent.settings.programs = {{0, {"./a.out", "\xff\xfe one", ""}}, {4, {"b"}}};
  sent.settings.cpus_per_rank = 3;
  sent.settings.ranks = 7;
  sent.settings.bind_to = weft::topology::binding::numa;
  sent.settings.exports = {"A=\x80"};
  sent.processes = {3, 4};
  sent.job = ~std::uint64_t{0};
  sent.folder = "/tmp/\xc3";
  const auto got = from_body<orders>(to_body(sent));
  REQUIRE(got.settings.programs.size() == 2);
  CHECK(got.settings.programs[0].words == sent.settings.programs[0].words);
  CHECK(got.settings.programs[1].first == 4);
  CHECK(got.settings.cpus_per_rank == 3);
  CHECK(got.settings.ranks == 7);
  CHECK(got.settings.bind_to == weft::topology::binding::numa);
  CHECK(got.settings.exports == sent.settings.exports);
  CHECK(got.processes.first == 3);
  CHECK(got.job == sent.job);
  CHECK(got.folder == sent.folder);
  CHECK_THROWS_AS(from_body<orders>("\xc1"), weft::error);
  CHECK_THROWS_AS(from_body<orders>(to_body(3)), weft::error);
  CHECK_THROWS_AS(from_body<failure>(to_body(sent).substr(0, 20)), weft::error);
}

TEST_CASE("a body that nests without end takes no stack") {
  for (const char level : {'\x91', '\x81'})
    CHECK_THROWS_AS(from_body<int>(std::string(longest_body, level)), weft::error);
  std::string pairs;
  while (pairs.size() < longest_body) pairs += std::string("\x81\xa0", 2);
  CHECK_THROWS_AS(from_body<int>(pairs), weft::error);
}

TEST_CASE("a length from outside is bounded before anything is allocated") {
  CHECK(read_length(length_prefix(longest_body)) == longest_body);
  CHECK_THROWS_AS(read_length(length_prefix(longest_body + 1)), weft::error);
  CHECK_THROWS_AS(read_length("\xff\xff\xff\xff"), weft::error);
}

TEST_CASE("a link carries messages both ways, and ends with one that breaks the protocol") {
  event_loop loop;
  const auto listener = weft::listen_on("127.0.0.1");
  auto here = weft::connect_to(weft::local_address(listener), clock_type::now() + 5s);
  REQUIRE(weft::wait_for(listener, POLLIN, clock_type::now() + 5s));
  auto there = weft::accept_from(listener);
  std::vector<std::string> heard;
  std::string end;
  agent_link link(
      loop, std::move(here),
      [&](message kind, std::string_view body) {
        heard.push_back(std::to_string(static_cast<int>(kind)) + std::string(body));
      },
      [&](const std::string& why) { end = why; });
  const std::string two = frame(message::signal, "one") + frame(message::input, std::string(100'000, 'x'));
  weft::send_all(there, std::as_bytes(std::span(two)), clock_type::now() + 5s, "test");
  run(loop, [&] { return heard.size() == 2; });
  CHECK(heard[0] == "2one");
  CHECK(heard[1].size() == 100'001);
  const std::string wrong("\xff\xff\xff\xff\x01", 5);
  weft::send_all(there, std::as_bytes(std::span(wrong)), clock_type::now() + 5s, "test");
  run(loop, [&] { return !end.empty(); });
  CHECK_THAT(end, weft_test::ContainsSubstring("at most"));
  CHECK_FALSE(link.open());
}

TEST_CASE("who knows the secret comes in, by whichever address leads there") {
  waiting_launcher here;
  const std::string good = here.accepting.addresses().front();
  CHECK(here.connect(here.secret, 3, {"127.0.0.1:1", good}) == "");
  CHECK(here.accepted == std::vector<int>{3});
  CHECK_THAT(here.connect(weft::make_secret(), 1, {good}), weft_test::ContainsSubstring("closed the connection"));
  CHECK_THAT(here.connect(here.secret, 1, {"127.0.0.1:1"}), weft_test::ContainsSubstring("cannot be reached"));
  CHECK(here.accepted.size() == 1);
}

TEST_CASE("an agent does not follow who does not know the secret") {
  waiting_launcher others;
  const auto outcome = others.connect(weft::make_secret(), 0, others.accepting.addresses());
  CHECK_THAT(outcome, weft_test::ContainsSubstring("cannot be reached"));
  CHECK(others.accepted.empty());
}

TEST_CASE("garbage is dropped, and keeps no agent from connecting") {
  waiting_launcher here;
  const std::string address = here.accepting.addresses().front();
  const auto silent = weft::connect_to(address, clock_type::now() + 5s);
  const auto begin = clock_type::now();
  std::array<std::byte, 64> buffer;
  std::ptrdiff_t received = 0;
  run(here.loop, [&] { return (received = weft::receive_now(silent, buffer)) < 0; });
  CHECK(clock_type::now() - begin < 1s);

  const std::string garbage(200, 'g');
  const long before = resident_pages();
  std::vector<weft::file_descriptor> crowd;
  for (int i = 0; i < 10'000; ++i) {
    crowd.push_back(weft::connect_to(address, clock_type::now() + 5s));
    if (i % 2 == 0) weft::send_now(crowd.back(), std::as_bytes(std::span(garbage)));
    if (crowd.size() > 400) crowd.erase(crowd.begin());
    here.loop.wait(clock_type::now());
  }
  CHECK(here.accepted.empty());
  if (!weft_test::slowed) CHECK(resident_pages() - before < 4 * 256);  // 4 MiB; a sanitizer keeps what was freed
  CHECK(here.connect(here.secret, 0, {address}) == "");
  CHECK(here.accepted == std::vector<int>{0});
}
