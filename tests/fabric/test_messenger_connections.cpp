// SPDX-License-Identifier: Apache-2.0
// What the messenger makes of connections: strangers, gaps, providers that fail, and credit.
#include "catch.hpp"
#include "fabric/messenger_job.hpp"

using namespace weft_test;
using weft::errc;

TEST_CASE("strangers' frames are dropped, and a gap in the sequence ends the connection", "[messenger]") {
  job_shape shape = small_shape(2);
  messenger_job job(shape);
  const auto world = job.world();
  const auto inject = [&](weft::fabric::header h) {
    std::array<std::byte, sizeof h> frame;
    weft::fabric::write_part(frame.data(), 0, h);
    REQUIRE(job.link(0).inject(1, frame));
    job.settle();
  };
  test_receive receive(*world[1], 0, 1, 10);
  job[1].post(receive);
  weft::fabric::header h;
  h.job = 4711;
  h.process = 0;
  h.incarnation = 1;
  h.sequence = 1000;
  h.communicator = 1;
  h.tag = 1;
  for (int stranger = 0; stranger < 4; ++stranger) {
    weft::fabric::header other = h;
    if (stranger == 0) other.version = 99;
    if (stranger == 1) other.job = 1;
    if (stranger == 2) other.incarnation = 9;
    if (stranger == 3) other.process = 50;
    inject(other);
    CHECK_FALSE(receive.done);
  }
  inject(h);
  REQUIRE(receive.done);
  CHECK(describe(receive.failure).code == errc::peer_lost);
  CHECK_THAT(describe(receive.failure).text, ContainsSubstring("rank 0"));
}

TEST_CASE("a provider that fails ends the operations that need it", "[messenger]") {
  messenger_job job(small_shape(3));
  const auto world = job.world();
  test_receive waiting(*world[0], 1, 5, 10), landing(*world[0], 1, 6, 5000, true, 1);
  test_send departing(*world[0], 1, 7, pattern(5000, 1));
  job[0].post(waiting);
  job[0].post(landing);
  job[0].post(departing);
  job.settle();
  job.link(0).failing = true;
  test_send send(*world[0], 1, 1, pattern(10, 1));
  job[0].post(send);
  job.poll_until([&] { return all_done(send, waiting, landing, departing); }, "the end of everything");
  CHECK(describe(waiting.failure).code == errc::peer_lost);
  CHECK_THAT(describe(waiting.failure).text, ContainsSubstring("the provider failed"));
}

TEST_CASE("what is said of credit never takes more of a ring than it has beside the credit", "[messenger]") {
  // Each message, however short, crosses the limit as it comes, and again as it is received; the sender takes nothing
  // in meanwhile.
  job_shape shape = small_shape(2);
  shape.settings.unexpected_limit = GENERATE(0, 1, 100);
  messenger_job job(shape);
  const auto world = job.world();
  job.settle();
  const std::size_t before = job.counts(1).frame_bytes;
  std::size_t received = 0;
  for (int i = 0; i < 500; ++i) {
    job[0].post(job.sends.emplace_back(*world[0], 1, 1, pattern(0, 1)));
    for (int polls = 0; polls < 3; ++polls) job[1].poll();
    if (!job[1].probe(*world[1], 0, 1)) continue;
    job[1].post(job.receives.emplace_back(*world[1], 0, 1, 100));
    for (int polls = 0; polls < 3; ++polls) job[1].poll();
    received += job.receives.back().done;
  }
  CHECK(received > 10);
  CHECK(job.counts(1).frame_bytes - before <= shape.settings.credit + 16 * sizeof(weft::fabric::header));
  for (std::size_t i = received; i < 500; ++i) job[1].post(job.receives.emplace_back(*world[1], 0, 1, 100));
  job.poll_until([&] { return std::ranges::all_of(job.receives, [](const auto& each) { return each.done.load(); }); },
                 "all messages");
}
