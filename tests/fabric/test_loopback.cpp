// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>
#include <weft/fabric/loopback.hpp>
#include <weft/runtime/error.hpp>

#include "catch.hpp"
#include "fabric/collecting_receiver.hpp"

using namespace weft::fabric;
using namespace weft_test;

namespace {

std::vector<station> endpoints_on(loopback_network& network, int endpoints) {
  std::vector<std::unique_ptr<transport>> links;
  for (int index = 0; index < endpoints; ++index) links.push_back(network.endpoint(index));
  return start_all(std::move(links));
}

}  // namespace

TEST_CASE("loopback refuses what breaks the transport's contract", "[loopback]") {
  loopback_options options;
  options.payload = 64;
  loopback_network network(2, options);
  std::vector<station> at = endpoints_on(network, 2);
  transfer sent, received;
  const bytes payload = pattern(32, 1);
  bytes space(32);

  SECTION("a payload without a receive") {
    CHECK_THROWS_AS(at[0].link->send_payload(1, 7, payload, sent), std::logic_error);
    REQUIRE(at[1].link->receive_payload(0, 8, space, received));
    CHECK_THROWS_WITH(at[0].link->send_payload(1, 7, payload, sent),
                      ContainsSubstring("32 bytes") && ContainsSubstring("before a receive"));
    CHECK_THROWS_AS(at[1].link->send_payload(1, 8, payload, sent), std::logic_error);  // posted for another sender
  }
  SECTION("a payload longer than its receive") {
    REQUIRE(at[1].link->receive_payload(0, 7, std::span(space).first(31), received));
    CHECK_THROWS_WITH(at[0].link->send_payload(1, 7, payload, sent), ContainsSubstring("31 bytes"));
  }
  SECTION("a second payload into one receive") {
    REQUIRE(at[1].link->receive_payload(0, 7, space, received));
    REQUIRE(at[0].link->send_payload(1, 7, payload, sent));
    CHECK_THROWS_AS(at[0].link->send_payload(1, 7, payload, sent), std::logic_error);
  }
  SECTION("a payload into a cancelled receive") {
    REQUIRE(at[1].link->receive_payload(0, 7, space, received));
    at[1].link->cancel(received);
    CHECK_THROWS_AS(at[0].link->send_payload(1, 7, payload, sent), std::logic_error);
  }
  SECTION("limits, tags and peers") {
    const loopback_options defaults;
    CHECK_THROWS_AS(at[0].link->inject(1, bytes(defaults.inject + 1)), std::logic_error);
    CHECK_THROWS_AS(at[0].link->send(1, bytes(defaults.frame + 1), sent), std::logic_error);
    bytes large(65);
    CHECK_THROWS_AS(at[1].link->receive_payload(0, 7, large, received), std::logic_error);
    CHECK_THROWS_AS(at[1].link->receive_payload(0, ~std::uint64_t{0}, space, received), std::logic_error);
    CHECK_THROWS_AS(at[0].link->inject(1, {}), std::logic_error);
    CHECK_THROWS_AS(at[0].link->inject(2, payload), std::logic_error);
    CHECK_THROWS_AS(at[0].link->inject(-1, payload), std::logic_error);
  }
  SECTION("endpoints that do not exist") {
    CHECK_THROWS_AS(network.endpoint(2), weft::error);
    CHECK_THROWS_AS(network.endpoint(1), weft::error);  // open already
  }
}

TEST_CASE("loopback says false when a queue is full, pair by pair", "[loopback]") {
  loopback_options options;
  options.queue = 3;
  loopback_network network(3, options);
  std::vector<station> at = endpoints_on(network, 3);
  for (int count = 0; count < 3; ++count) REQUIRE(at[0].link->inject(1, pattern(8, 1)));
  CHECK_FALSE(at[0].link->inject(1, pattern(8, 1)));
  CHECK(at[0].link->inject(2, pattern(8, 1)));
  CHECK(at[2].link->inject(1, pattern(8, 1)));
  at[1].poll();
  CHECK(at[1].seen.frames.size() == 4);
  CHECK(at[0].link->inject(1, pattern(8, 1)));
}

TEST_CASE("loopback with jitter keeps a pair's order and mixes the rest", "[loopback]") {
  const std::uint64_t seed = test_seed() | 1;
  CAPTURE(seed);
  const auto run = [seed] {
    loopback_options options;
    options.jitter_seed = seed;
    loopback_network network(3, options);
    std::vector<station> at = endpoints_on(network, 3);
    for (unsigned char number = 0; number < 200; ++number) {
      for (int from : {0, 1}) {
        const std::byte frame[] = {std::byte(from), std::byte(number)};
        until([&] { return poll_all(at), at[from].link->inject(2, frame); }, "room");
      }
    }
    until([&] { return poll_all(at), at[2].seen.frames.size() == 400; }, "frames");
    return at[2].seen.frames;
  };
  const std::vector<bytes> frames = run();
  int next[2] = {0, 0};
  int switches = 0;
  for (std::size_t index = 0; index < frames.size(); ++index) {
    const int from = static_cast<int>(frames[index][0]);
    CHECK(static_cast<int>(frames[index][1]) == next[from]++);
    if (index > 0 && frames[index - 1][0] != frames[index][0]) ++switches;
  }
  CHECK(switches < 390);  // without jitter they would alternate: 399
  CHECK(frames == run());
}

TEST_CASE("a killed loopback endpoint falls silent and its peers are not told", "[loopback]") {
  loopback_options options;
  options.queue = 4;
  loopback_network network(2, options);
  std::vector<station> at = endpoints_on(network, 2);
  transfer sending, sending_back, waiting;
  const bytes payload = pattern(32, 1);
  bytes space(32), space_back(32);
  REQUIRE(at[1].link->receive_payload(0, 1, space, waiting));
  REQUIRE(at[0].link->receive_payload(1, 2, space_back, waiting));
  REQUIRE(at[0].link->inject(1, payload));
  REQUIRE(at[0].link->send_payload(1, 1, payload, sending));
  REQUIRE(at[1].link->send_payload(0, 2, payload, sending_back));
  network.kill(0);

  at[1].poll();
  CHECK(at[1].seen.frames.empty());
  REQUIRE(at[1].seen.endings.size() == 1);  // its own send, which "succeeded"
  CHECK(at[1].seen.endings[0].which == &sending_back);
  CHECK(!at[1].seen.endings[0].error);
  at[1].link->cancel(waiting);
  at[1].poll();
  REQUIRE(at[1].seen.endings.size() == 2);
  CHECK(at[1].seen.endings[1].error == std::errc::operation_canceled);

  CHECK(at[0].link->inject(1, payload));
  CHECK(at[0].link->send(1, payload, sending));
  poll_all(at);
  CHECK(at[0].seen.endings.empty());
  CHECK(at[1].seen.frames.empty());
  for (int count = 0; count < 3; ++count) CHECK(at[1].link->inject(0, payload));
  CHECK_FALSE(at[1].link->inject(0, payload));
  at[1].poll();
  CHECK_FALSE(at[1].link->inject(0, payload));
}

TEST_CASE("a closed loopback endpoint's injected frames still arrive", "[loopback]") {
  std::unique_ptr<loopback_network> network = std::make_unique<loopback_network>(2);
  std::vector<station> at = endpoints_on(*network, 2);
  network.reset();
  transfer sending;
  {
    const bytes gone = pattern(16, 2);
    REQUIRE(at[0].link->inject(1, pattern(16, 1)));
    REQUIRE(at[0].link->send(1, gone, sending));
    at[0].link.reset();
  }
  at[1].poll();
  REQUIRE(at[1].seen.frames.size() == 1);
  CHECK(at[1].seen.frames[0] == pattern(16, 1));
}
