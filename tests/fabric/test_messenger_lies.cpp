// SPDX-License-Identifier: Apache-2.0
// Frames of a process of the job that no messenger would send: whoever sends them is lost, and no memory is harmed.
#include <array>
#include <bit>

#include "catch.hpp"
#include "fabric/messenger_job.hpp"

using namespace weft_test;
using weft::errc;
using weft::fabric::any_peer;
using weft::fabric::message_kind;

namespace {

/// Speaks in the name of one of two processes, to the other one.
class liar {
 public:
  liar(messenger_job& job, int process) : job_(job), process_(process) {}

  weft::fabric::header head(message_kind kind) const {
    weft::fabric::header h;
    h.kind = kind;
    h.job = 4711;
    h.process = static_cast<std::uint32_t>(process_);
    h.incarnation = static_cast<std::uint16_t>(process_ + 1);
    for (const std::size_t sent : job_.counts(process_).kinds) h.sequence += static_cast<std::uint32_t>(sent);
    h.communicator = 1;
    h.source = process_;
    h.destination = 1 - process_;
    return h;
  }

  template <class... Body>
  void say(const weft::fabric::header& h, const Body&... body) {
    bytes frame(sizeof h + (std::size_t{0} + ... + sizeof body));
    weft::fabric::write_part(frame.data(), 0, h);
    (weft::fabric::write_part(frame.data(), sizeof h, body), ...);
    REQUIRE(job_.link(process_).inject(1 - process_, frame));
    job_.settle();
  }

 private:
  messenger_job& job_;
  int process_;
};

void check_lost(const test_receive& of) {
  REQUIRE(of.done);
  CHECK(describe(of.failure).code == errc::peer_lost);
}

}  // namespace

TEST_CASE("who speaks for a rank that it does not host is lost", "[messenger]") {
  messenger_job job(small_shape(2));
  liar other(job, 0);
  const auto kind = GENERATE(message_kind::eager, message_kind::envelope);
  const int source = GENERATE(1 << 30, 2, -5, 1);
  const bool joined = GENERATE(true, false);
  CAPTURE(static_cast<int>(kind), source, joined);
  std::vector<weft::fabric::participant*> world;
  if (joined) world = job.world();
  auto h = other.head(kind);
  h.source = source;
  h.length = 5000;
  other.say(h, weft::fabric::envelope_body{7});
  if (!joined) world = job.world();
  auto& receive = job.receives.emplace_back(*world[1], any_peer, 0, 5000);
  job[1].post(receive);
  job.settle();
  check_lost(receive);
  CHECK_THAT(describe(receive.failure).text, ContainsSubstring("spoke for rank " + std::to_string(source)));
}

TEST_CASE("who grants a collective's message for a rank that it does not host is lost", "[messenger]") {
  messenger_job job(small_shape(2, 2));
  liar other(job, 1);
  const bool joined = GENERATE(true, false);
  std::vector<weft::fabric::participant*> world;
  if (joined) world = job.world();
  auto h = other.head(message_kind::grant);
  h.matching = weft::fabric::space::collective;
  h.source = 0;
  h.destination = 1;  // which process 0 hosts, as it does the sender
  h.length = 5000;
  other.say(h, weft::fabric::grant_body{1000, 0, 3, 1000});
  if (!joined) world = job.world();
  auto& receive = job.receives.emplace_back(*world[0], 2, 7, 10);
  auto& send = job.sends.emplace_back(*world[0], 1, 0, pattern(5000, 1), true, 0);
  job[0].post(receive);
  job[0].post(send);
  job.settle();
  CHECK(receive.done == joined);  // what goes from rank to rank of a process asks no grant
}

TEST_CASE("a message of a collective that has been granted comes no other way", "[messenger]") {
  auto shape = small_shape(2);
  shape.network.inject = 8192;
  messenger_job job(shape);
  const auto world = job.world();
  liar other(job, 0);
  auto& receive = job.receives.emplace_back(*world[1], 0, 1, 5000, true, 9);
  job[1].post(receive);
  job.settle();
  const bool announced = GENERATE(true, false);
  auto h = other.head(announced ? message_kind::envelope : message_kind::eager);
  h.matching = weft::fabric::space::collective;
  h.tag = 1;
  h.detail = 9;
  h.length = 5000;
  if (announced)
    other.say(h, weft::fabric::envelope_body{7});
  else
    other.say(h, std::array<std::byte, 5000>{});
  job.settle();
  REQUIRE(receive.done);
  CHECK(receive.endings == 1);
  CHECK(describe(receive.failure).code == errc::mismatched_call);
}

TEST_CASE("a grant names its message", "[messenger]") {
  messenger_job job(small_shape(2));
  const auto world = job.world();
  liar other(job, 1);
  auto& send = job.sends.emplace_back(*world[0], 1, 1, pattern(20000, 1));
  job[0].post(send);
  job.settle();
  auto h = other.head(message_kind::grant);
  h.source = 0;
  h.destination = 1;
  other.say(h, weft::fabric::grant_body{1000, 1, 0, 1000});
  REQUIRE(send.done);
  CHECK(describe(send.failure).code == errc::peer_lost);
}

TEST_CASE("who opens its connection twice is lost", "[messenger]") {
  messenger_job job(small_shape(2));
  const auto world = job.world();
  liar other(job, 0);
  auto& receive = job.receives.emplace_back(*world[1], 0, 1, 10);
  job[1].post(receive);
  auto h = other.head(message_kind::hello);
  h.length = ~std::uint64_t{0} >> 1;
  other.say(h);
  check_lost(receive);
}

TEST_CASE("no frame comes from the process that it comes to", "[messenger]") {
  messenger_job job(small_shape(2));
  const auto world = job.world();
  liar other(job, 0);
  auto& receive = job.receives.emplace_back(*world[1], 0, 1, 10);
  job[1].post(receive);
  auto h = other.head(message_kind::credit);
  h.process = 1;
  h.incarnation = 2;
  other.say(h);
  CHECK_FALSE(receive.done);
}

TEST_CASE("who sends several frames of which one is cut short, or several within several, is lost", "[messenger]") {
  auto shape = small_shape(2);
  shape.network.inject = 8192;
  messenger_job job(shape);
  const auto world = job.world();
  liar other(job, 0);
  auto& receive = job.receives.emplace_back(*world[1], 0, 1, 8);
  job[1].post(receive);
  const auto h = other.head(message_kind::several);
  struct record {
    std::uint32_t bytes;
    std::array<std::byte, sizeof h> frame;
  };
  const auto nested = std::bit_cast<std::array<std::byte, sizeof h>>(h);
  const int what = GENERATE(0, 1, 2, 3);
  CAPTURE(what);
  if (what == 0) other.say(h, std::uint16_t{1});
  if (what == 1) other.say(h, record{sizeof h - 1, {}});
  if (what == 2) other.say(h, record{sizeof h + 1, {}});
  if (what == 3) other.say(h, record{sizeof h, nested});
  check_lost(receive);
}
