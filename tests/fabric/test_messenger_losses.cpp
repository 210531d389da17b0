// SPDX-License-Identifier: Apache-2.0
// What a process that is lost, or taken for lost, can still do, and what it costs the others.
#include <weft/runtime/clock.hpp>

#include "catch.hpp"
#include "fabric/messenger_job.hpp"

using namespace weft_test;
using weft::errc;

TEST_CASE("a process that is lost but lives reaches no memory that has been given back", "[messenger][failures]") {
  job_shape shape;
  shape.settings.eager_limit = 256;
  shape.settings.piece = 1024;
  bool gone = false;
  const bool cuttable = GENERATE(true, false);
  CAPTURE(cuttable);
  shape.settings.ended = [&](int process) { return process == 1 && gone; };
  messenger_job job(shape);
  const auto world = job.world();
  job.link(0).holding = true;
  job.link(0).cuttable = cuttable;
  const bool collective = GENERATE(true, false);
  auto& send = job.sends.emplace_back(*world[1], 0, 1, pattern(50000, 1), collective, 1);
  auto& receive = job.receives.emplace_back(*world[0], 1, 1, 50000, collective, 1);
  if (!collective) job[1].post(send);
  job.settle();
  job.link(1).frozen = true;
  job[0].post(receive);
  job.settle();
  REQUIRE(job.link(0).held_receives() != 0);
  job[0].lose(1, "it was silent");
  const auto poll_for = [&](std::chrono::milliseconds time) {
    for (const auto end = std::chrono::steady_clock::now() + time;
         !receive.done && std::chrono::steady_clock::now() < end;)
      job[0].poll();
  };
  poll_for(std::chrono::milliseconds(1000));
  if (cuttable) {
    CHECK(receive.done);
    CHECK(job.link(0).held_receives() == 0);  // AddressSanitizer sees whoever fills the memory now
  } else {
    CHECK_FALSE(receive.done);
    SECTION("it goes on") { CHECK(job.link(0).land_held() != 0); }
    SECTION("it ends") { gone = true; }
    poll_for(std::chrono::seconds(60));
    CHECK(receive.done);
  }
  REQUIRE(receive.failure != nullptr);
  CHECK(describe(receive.failure).code == errc::peer_lost);
}

TEST_CASE("a provider that takes nothing for a process costs that process alone", "[messenger][failures]") {
  job_shape shape;
  shape.processes = 3;
  shape.settings.eager_limit = 256;
  shape.settings.refusal_limit = std::chrono::milliseconds(50);
  messenger_job job(shape);
  const auto pair = job.communicator(1, {0, 1});
  const auto others = job.communicator(2, {1, 2});
  test_receive answer(*pair[0], 1, 1, 10);
  job[0].post(answer);
  job.link(0).refusing = true;
  const std::size_t size = GENERATE(10, 5000);
  auto& send = job.sends.emplace_back(*pair[0], 1, 1, pattern(size, 1));
  job[0].post(send);
  const auto begin = std::chrono::steady_clock::now();
  job.poll_until([&] { return answer.done.load(); }, "the end of the refusals");
  CHECK(std::chrono::steady_clock::now() - begin >= shape.settings.refusal_limit);
  REQUIRE(answer.failure != nullptr);
  CHECK(describe(answer.failure).code == errc::peer_lost);
  CHECK_THAT(describe(answer.failure).text, ContainsSubstring("rank 1") && ContainsSubstring("for 50 ms") &&
                                                ContainsSubstring("has taken nothing for it"));
  REQUIRE(job.suspicions.size() == 1);
  CHECK(job.suspicions[0].by == 0);
  CHECK(job.suspicions[0].process == 1);
  test_send fine(*others[1], 0, 1, pattern(10, 1));
  test_receive fine_too(*others[0], 1, 1, 10);
  job[2].post(fine);
  job[1].post(fine_too);
  job.poll_until([&] { return fine_too.done.load(); }, "the others' message");
  CHECK(fine_too.failure == nullptr);
}

TEST_CASE("what a loss ends is told at once by whoever has the token next, one that sends, too",
          "[messenger][failures]") {
  messenger_job job(small_shape(3));
  const auto world = job.world();
  auto& receive = job.receives.emplace_back(*world[0], 1, 1, 8);
  job[0].post(receive);
  job.settle();
  job[0].lose(1, "it was killed");
  job[0].send_now(*world[0], 2, 1, pattern(8, 1));
  REQUIRE(receive.done);
  CHECK(describe(receive.failure).code == errc::peer_lost);
}

TEST_CASE("that a provider refused something long ago says nothing of what it refuses now", "[messenger][failures]") {
  weft::manual_clock time;
  job_shape shape;
  shape.settings.eager_limit = 256;
  shape.settings.time = &time;
  messenger_job job(shape);
  const auto world = job.world();
  const std::size_t size = GENERATE(10, 5000);
  auto& send = job.sends.emplace_back(*world[0], 1, 1, pattern(size, 1));
  auto& receive = job.receives.emplace_back(*world[1], 0, 1, size);
  job[1].post(receive);
  job.link(0).refusing = true;
  time.advance(std::chrono::seconds(1));
  job[0].post(send);
  job.settle();
  time.advance(2 * shape.settings.refusal_limit);  // it does not poll, as a process that computes
  job.settle();
  CHECK(job.suspicions.empty());
  job.link(0).refusing = false;
  job.settle();
  CHECK(receive.done);
  CHECK(receive.failure == nullptr);
}

TEST_CASE("a process of the node whose ring is full for long is not suspected", "[messenger][failures]") {
  weft::manual_clock time;
  job_shape shape;
  shape.on_node = true;
  shape.settings.eager_limit = 256;
  shape.settings.time = &time;
  messenger_job job(shape);
  const auto world = job.world();
  const std::size_t size = GENERATE(10, 5000);
  auto& send = job.sends.emplace_back(*world[0], 1, 1, pattern(size, 1));
  auto& receive = job.receives.emplace_back(*world[1], 0, 1, size);
  job[1].post(receive);
  job.link(0).refusing = true;
  job[0].post(send);
  for (auto passed = std::chrono::milliseconds(0); passed < 2 * shape.settings.refusal_limit;
       passed += std::chrono::milliseconds(500)) {
    time.advance(std::chrono::milliseconds(500));
    job.settle();
  }
  CHECK(job.suspicions.empty());
  job.link(0).refusing = false;
  job.settle();
  CHECK(receive.done);
  CHECK(receive.failure == nullptr);
}

TEST_CASE("an injected frame that is lost on the way to a living process becomes an error soon",
          "[messenger][failures]") {
  job_shape shape;
  shape.processes = 3;
  messenger_job job(shape);
  const auto world = job.world();
  const auto others = job.communicator(2, {0, 2});
  test_receive receive(*world[1], 0, 1, 10);
  job[1].post(receive);
  job.link(0).drop_next = true;
  test_send send(*world[0], 1, 1, pattern(10, 1));
  job[0].post(send);
  CHECK(send.done);  // nothing else is sent
  const auto begin = std::chrono::steady_clock::now();
  job.poll_until([&] { return receive.done.load(); }, "the receive's end");
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(1));
  REQUIRE(receive.failure != nullptr);
  CHECK(describe(receive.failure).code == errc::peer_lost);
  CHECK_THAT(describe(receive.failure).text, ContainsSubstring("rank 0") && ContainsSubstring("is missing"));
  REQUIRE(job.suspicions.size() == 1);
  CHECK(job.suspicions[0].by == 1);
  CHECK(job.suspicions[0].process == 0);
  test_send fine(*others[0], 1, 1, pattern(10, 1));  // the third process has missed nothing
  test_receive fine_too(*others[1], 0, 1, 10);
  job[0].post(fine);
  job[2].post(fine_too);
  job.poll_until([&] { return fine_too.done.load(); }, "another process's message");
  CHECK(fine_too.failure == nullptr);
}

TEST_CASE("who grants one message by two names is lost", "[messenger]") {
  auto shape = small_shape(2);
  shape.settings.piece = 1000;
  shape.settings.window = 2000;
  messenger_job job(shape);
  const auto world = job.world();
  auto& send = job.sends.emplace_back(*world[0], 1, 1, pattern(20000, 1));
  auto& receive = job.receives.emplace_back(*world[1], 0, 1, 20000);
  job.link(1).most_receives = 1;
  job[1].post(receive);
  job[0].post(send);
  job.poll_until([&] { return job.counts(1).of(weft::fabric::message_kind::grant) == 1; }, "the first grant");
  job.link(1).renames_grants = true;
  job.poll_until([&] { return send.done.load(); }, "the end of the message");
  CHECK(describe(send.failure).code == errc::peer_lost);
  CHECK_THAT(describe(send.failure).text, ContainsSubstring("by two names"));
}
