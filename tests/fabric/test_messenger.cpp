// SPDX-License-Identifier: Apache-2.0
// What the messenger promises, one promise at a time: messages between ranks.
#include "catch.hpp"
#include "fabric/messenger_job.hpp"

using namespace weft_test;
using weft::errc;
using weft::fabric::any_message_tag;
using weft::fabric::any_peer;

TEST_CASE("a message of every length arrives, before its receive and after", "[messenger]") {
  for (const bool early : {false, true}) {
    messenger_job job(small_shape(2, 2));
    const auto world = job.world();
    for (const std::size_t size : {0, 1, 63, 64, 65, 255, 256, 257, 1023, 1024, 1025, 2048, 2049, 10000, 100000}) {
      for (const int to : {1, 2}) {  // at home, and not
        CAPTURE(early, size, to);
        const bytes message = pattern(size, size);
        test_send send(*world[0], to, 7, message);
        test_receive receive(*world[static_cast<std::size_t>(to)], 0, 7, size + 3);
        if (early) job.of_rank(to).post(receive);
        job[0].post(send);
        job.settle();
        if (!early) {
          const auto found = job.of_rank(to).probe(*world[static_cast<std::size_t>(to)], any_peer, any_message_tag);
          REQUIRE(found.has_value());
          CHECK(found->source == 0);
          CHECK(found->tag == 7);
          CHECK(found->bytes == size);
          job.of_rank(to).post(receive);
        }
        job.poll_until([&] { return all_done(send, receive); }, "a message");
        CHECK(send.failure == nullptr);
        REQUIRE(receive.failure == nullptr);
        CHECK(receive.source == 0);
        CHECK(receive.received_tag == 7);
        CHECK(receive.received == size);
        CHECK(receive.message == message);
        CHECK_FALSE(job.of_rank(to).probe(*world[static_cast<std::size_t>(to)], any_peer, any_message_tag).has_value());
      }
    }
    job.settle();
    CHECK(job[0].quiet());
    CHECK(job[1].quiet());
  }
}

TEST_CASE("a message that is set aside goes to the receive that names it, or is discarded", "[messenger]") {
  const bool discard = GENERATE(true, false);
  messenger_job job(small_shape(2, 2));
  const auto world = job.world();
  for (const std::size_t size : {0, 1, 255, 256, 257, 1025, 10000}) {
    for (const int to : {1, 2}) {  // at home, and not
      CAPTURE(size, to);
      weft::fabric::participant& member = *world[static_cast<std::size_t>(to)];
      weft::fabric::messenger& there = job.of_rank(to);
      test_send first(*world[0], to, 7, pattern(size, 1)), second(*world[0], to, 7, pattern(size, 2));
      job[0].post(first);
      job[0].post(second);
      job.settle();
      const auto found = there.probe(member, any_peer, 7, true);
      REQUIRE(found.has_value());
      CHECK(found->bytes == size);
      CHECK(found->aside != 0);
      test_receive next(member, 0, 7, size);
      there.post(next);
      job.poll_until([&] { return all_done(next, second); }, "the message behind it");
      CHECK(next.message == pattern(size, 2));
      CHECK_FALSE(there.probe(member, any_peer, any_message_tag).has_value());
      test_receive named(member, 0, 7, size);
      named.aside = found->aside;
      if (discard) there.discard(member, found->aside);
      there.post(named);
      job.poll_until([&] { return all_done(named, first); }, "the message");
      CHECK(first.failure == nullptr);
      if (discard) {
        REQUIRE(named.failure != nullptr);
        CHECK(describe(named.failure).code == weft::errc::operation_failed);
      } else {
        CHECK(named.message == pattern(size, 1));
      }
      job.settle();
      CHECK(there.counts().stored == 0);
      CHECK(job[0].quiet());
      CHECK(job[1].quiet());
    }
  }
}

TEST_CASE("a message that is set aside ends with its communicator, its sender or its sender's process", "[messenger]") {
  const int what = GENERATE(0, 1, 2, 3);
  const std::size_t size = GENERATE(1, 10000);
  for (const int to : {1, 2}) {
    CAPTURE(what, size, to);
    messenger_job job(small_shape(2, 2));
    const auto world = job.world();
    weft::fabric::participant& member = *world[static_cast<std::size_t>(to)];
    weft::fabric::messenger& there = job.of_rank(to);
    auto& send = job.sends.emplace_back(*world[0], to, 7, pattern(size, 1));
    job[0].post(send);
    job.settle();
    const auto found = there.probe(member, 0, 7, true);
    REQUIRE(found.has_value());
    const bool sent = send.done;
    if (what == 0) there.break_communicator(1, weft::errc::revoked, "it is over");
    if (what == 1) job[0].break_here(*world[0]);
    if (what == 2 && to == 1) continue;  // its own process
    if (what == 2) {
      job.kill(0);
      there.lose(0, "it was killed");
    }
    if (what == 3) there.leave(member);
    job.settle();
    if (what != 2) CHECK(send.done);
    if (what == 3) {
      CHECK(there.counts().stored == 0);
      continue;
    }
    auto& receive = job.receives.emplace_back(member, 0, 7, size);
    receive.aside = found->aside;
    there.post(receive);
    job.poll_until([&] { return receive.done.load(); }, "the receive");
    if (what == 1 && sent) {
      CHECK(receive.message == pattern(size, 1));
    } else {
      REQUIRE(receive.failure != nullptr);
      CHECK(describe(receive.failure).code == (what == 0   ? weft::errc::revoked
                                               : what == 1 ? weft::errc::operation_failed
                                                           : weft::errc::peer_lost));
    }
    CHECK(there.counts().stored == 0);
  }
}

TEST_CASE("10,000 messages wait while one of another tag is received", "[messenger]") {
  messenger_job job(small_shape(2));
  const auto world = job.world();
  const std::size_t count = 10000;
  std::deque<test_send>& sends = job.sends;
  std::size_t held_up = 0, ended = 0;
  for (std::size_t i = 0; i < count; ++i) {
    job[0].post(sends.emplace_back(*world[0], 1, 1, pattern(100, i)));
    held_up += sends.back().now == weft::fabric::operation::stage::waiting_for_room;
    ended += sends.back().done;
    if (i % 64 == 0) job.poll();
  }
  CHECK(ended > 0);
  CHECK(held_up > 0);
  test_send last(*world[0], 1, 2, pattern(8, 77));
  test_receive first(*world[1], 0, 2, 8);
  job[0].post(last);
  job[1].post(first);
  job.poll_until([&] { return first.done.load(); }, "the message of tag 2");
  CHECK(first.message == pattern(8, 77));
  CHECK(job.counts(1).envelopes_wanted > 0);
  CHECK(job.counts(0).short_envelopes > 0);

  SECTION("and a collective's messages pass") {
    for (std::uint64_t round = 0; round < 20; ++round)
      for (const int from : {0, 1})
        for (const std::size_t size : {0, 8, 200, 5000}) {
          CAPTURE(round, from, size);
          const std::uint64_t tag = round << 32 | size;
          test_send send(*world[static_cast<std::size_t>(from)], 1 - from, tag, pattern(size, round), true, 5);
          test_receive receive(*world[static_cast<std::size_t>(1 - from)], from, tag, size, true, 5);
          job[from].post(send);
          job[1 - from].post(receive);
          job.poll_until([&] { return all_done(send, receive); }, "a collective's message");
          CHECK(receive.message == pattern(size, round));
        }
  }
  SECTION("and all are received in order") {
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < count; ++i) {
      test_receive receive(*world[1], i % 2 ? 0 : any_peer, i % 3 ? 1 : any_message_tag, 100);
      job[1].post(receive);
      job.poll_until([&] { return receive.done.load(); }, "one of many");
      wrong += receive.message != pattern(100, i);
    }
    CHECK(wrong == 0);
    job.settle();
    CHECK(std::all_of(sends.begin(), sends.end(),
                      [](const test_send& each) { return each.done && each.failure == nullptr; }));
    CHECK(job[0].quiet());
  }
}

TEST_CASE("a rank that takes nothing does not stop the others of its process", "[messenger]") {
  job_shape shape;  // with the limits that a job has by default
  shape.ranks_each = 2;
  messenger_job job(shape);
  const auto world = job.world();
  std::deque<test_send>& sends = job.sends;
  for (std::size_t i = 0; i < 10000; ++i) {
    job[0].post(sends.emplace_back(*world[0], 2, 1, bytes(8 << 10)));
    if (i % 16 == 0) job.poll();
  }
  for (const std::size_t size : {8, 8192, 300000}) {
    CAPTURE(size);
    test_send there(*world[1], 3, 9, pattern(size, 1));
    test_receive here(*world[3], 1, 9, size);
    job[0].post(there);
    job[1].post(here);
    job.poll_until([&] { return all_done(there, here); }, "the others' message");
    CHECK(here.message == pattern(size, 1));
  }
  CHECK(job.counts(0).short_envelopes > 0);
}

TEST_CASE("messages of one source and tag stay in order, short and long", "[messenger]") {
  const std::uint64_t seed = test_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  job_shape shape = small_shape(2);
  shape.network.jitter_seed = seed | 1;
  shape.network.queue = 4;
  messenger_job job(shape);
  const auto world = job.world();
  const std::size_t sizes[] = {0, 10, 256, 257, 4000, 9000};
  std::deque<test_send> sends;
  std::deque<test_receive> receives;
  std::vector<bytes> expected;
  for (std::size_t i = 0; i < 400; ++i) {
    expected.push_back(pattern(sizes[random() % 6], i));
    job[0].post(sends.emplace_back(*world[0], 1, 3, expected.back()));
    if (random() % 2) job[1].post(receives.emplace_back(*world[1], random() % 2 ? 0 : any_peer, 3, 9000));
    if (random() % 4 == 0) job.poll();
  }
  while (receives.size() < expected.size()) job[1].post(receives.emplace_back(*world[1], 0, any_message_tag, 9000));
  job.poll_until(
      [&] { return std::all_of(receives.begin(), receives.end(), [](const auto& each) { return each.done.load(); }); },
      "all messages");
  job.poll_until(
      [&] { return std::all_of(sends.begin(), sends.end(), [](const auto& each) { return each.done.load(); }); },
      "all sends");
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) wrong += receives[i].message != expected[i];
  CHECK(wrong == 0);
}

TEST_CASE("a message that is longer than short ones goes at once while it is alone on its way", "[messenger]") {
  const job_shape shape = small_shape(2);
  messenger_job job(shape);
  const auto world = job.world();
  const std::size_t longest = shape.settings.credit / 8, eager = shape.settings.eager_limit;
  REQUIRE(longest > eager);
  const auto asked = [&] { return job.counts(0).of(weft::fabric::message_kind::envelope); };
  const auto pass = [&](std::size_t size, bool synchronous = false) {
    test_send there(*world[0], 1, 1, pattern(size, 1));
    there.synchronous = synchronous;
    test_receive here(*world[1], 0, 1, size);
    job[1].post(here);
    job[0].post(there);
    job.poll_until([&] { return all_done(there, here); }, "a message");
    CHECK(here.message == pattern(size, 1));
  };

  pass(longest);
  CHECK(asked() == 0);
  SECTION("but not one more before anything has come from its receiver") {
    pass(eager + 1);
    CHECK(asked() == 1);  // and the grant has come
    pass(eager + 1);
    CHECK(asked() == 1);
  }
  SECTION("nor one that is longer still, or is to be received before it ends") {
    test_send back(*world[1], 0, 1, pattern(8, 2));
    test_receive heard(*world[0], 1, 1, 8);
    job[0].post(heard);
    job[1].post(back);
    job.poll_until([&] { return all_done(back, heard); }, "an answer");
    pass(longest + 1);
    CHECK(asked() == 1);
    pass(longest, true);
    CHECK(asked() == 2);
  }
}

TEST_CASE("a window of long messages is announced and granted by few frames", "[messenger]") {
  job_shape shape = small_shape(2);
  shape.settings.eager_limit = 4096;
  shape.settings.credit = 64 << 10;
  shape.settings.piece = 512 << 10;
  messenger_job job(shape);
  const auto world = job.world();
  std::deque<test_send> sends;
  std::deque<test_receive> receives;
  for (std::uint64_t i = 0; i < 32; ++i) job[1].post(receives.emplace_back(*world[1], 0, i, std::size_t{10'000}));
  for (std::uint64_t i = 0; i < 32; ++i) job[0].post(sends.emplace_back(*world[0], 1, i, pattern(10'000, i)));
  CHECK(job.counts(0).of(weft::fabric::message_kind::envelope) == 1);  // the others wait for the next poll
  job.poll_until([&] { return std::ranges::all_of(receives, [](const auto& each) { return each.done.load(); }); },
                 "the messages");
  job.settle();
  for (std::uint64_t i = 0; i < 32; ++i) CHECK(receives[i].message == pattern(10'000, i));
  CHECK(job.counts(0).of(weft::fabric::message_kind::envelope) == 32);
  CHECK(job.counts(0).of(weft::fabric::message_kind::several) == 1);
  CHECK(job.counts(1).of(weft::fabric::message_kind::grant) == 32);
  CHECK(job.counts(1).of(weft::fabric::message_kind::several) == 1);
}

TEST_CASE("short messages that may wait leave together in the next poll, and with what comes behind them",
          "[messenger]") {
  job_shape shape = small_shape(2);
  shape.settings.eager_limit = 4096;
  shape.settings.credit = 64 << 10;
  messenger_job job(shape);
  const auto world = job.world();
  auto& sends = job.sends;
  auto& receives = job.receives;
  const auto eager = [&] { return job.counts(0).of(weft::fabric::message_kind::eager); };
  const auto several = [&] { return job.counts(0).of(weft::fabric::message_kind::several); };
  const auto post = [&](bool may_wait, std::size_t bytes) {
    sends.emplace_back(*world[0], 1, 7, pattern(bytes, sends.size())).may_wait = may_wait;
    job[0].post(sends.back());
  };
  for (int i = 0; i < 32; ++i) job[1].post(receives.emplace_back(*world[1], 0, 7, std::size_t{1000}));

  for (int i = 0; i < 8; ++i) post(true, 100);
  CHECK(eager() == 1);
  CHECK(several() == 0);
  CHECK(std::ranges::count_if(sends, [](const auto& each) { return each.done.load(); }) == 1);
  SECTION("in the next poll") {
    job[0].poll();
    CHECK(several() == 1);
    CHECK(std::ranges::all_of(sends, [](const auto& each) { return each.done.load(); }));
  }
  SECTION("before one that may not wait") {
    post(false, 10);
    CHECK(several() == 1);
    CHECK(std::ranges::all_of(sends, [](const auto& each) { return each.done.load(); }));
  }
  SECTION("as soon as they fill a frame") {
    for (int i = 0; i < 16; ++i) post(true, 1000);
    CHECK(several() >= 1);
  }
  SECTION("or never, where the process is lost") {
    job[0].lose(1, "it was killed");
    job[0].while_held([] {});  // now
    for (std::size_t i = 1; i < sends.size(); ++i) {
      REQUIRE(sends[i].done);
      CHECK(describe(sends[i].failure).code == errc::peer_lost);
    }
    return;
  }
  while (sends.size() < receives.size()) post(sends.size() % 3 != 0, 500);
  job.poll_until([&] { return std::ranges::all_of(receives, [](const auto& each) { return each.done.load(); }); },
                 "the messages");
  for (std::size_t i = 0; i < receives.size(); ++i) CHECK(receives[i].message == pattern(receives[i].received, i));
  CHECK(eager() == 32);
}

TEST_CASE("short messages that may wait end without their receiver, as far as the buffer goes", "[messenger]") {
  job_shape shape = small_shape(2);
  shape.settings.eager_limit = 1024;
  shape.settings.credit = 16 << 10;
  shape.settings.unexpected_limit = 8 << 10;
  const bool has_buffer = GENERATE(true, false);
  shape.settings.send_buffer_limit = has_buffer ? 1 << 20 : 0;
  messenger_job job(shape);
  const auto world = job.world();
  for (std::uint64_t i = 0; i < 200; ++i) {
    job.sends.emplace_back(*world[0], 1, i, pattern(i % 2 == 0 ? 500 : 20, i)).may_wait = true;
    job[0].post(job.sends.back());
    if (i % 50 == 49) job.settle();
  }
  CHECK(std::ranges::all_of(job.sends, [](const auto& each) { return each.done.load(); }) == has_buffer);
  for (std::uint64_t i = 0; i < 200; ++i) job[1].post(job.receives.emplace_back(*world[1], 0, i, std::size_t{500}));
  job.poll_until(
      [&] {
        const auto has_ended = [](const auto& each) { return each.done.load(); };
        return std::ranges::all_of(job.receives, has_ended) && std::ranges::all_of(job.sends, has_ended);
      },
      "the messages");
  for (std::uint64_t i = 0; i < 200; ++i) CHECK(job.receives[i].message == pattern(i % 2 == 0 ? 500 : 20, i));
}

TEST_CASE("a receive that is too short names both lengths and harms nothing", "[messenger]") {
  for (const bool early : {false, true})
    for (const int to : {1, 2})
      for (const std::size_t size : {200, 5000}) {
        CAPTURE(early, to, size);
        messenger_job job(small_shape(2, 2));
        const auto world = job.world();
        test_send send(*world[0], to, 7, pattern(size, 1)), next(*world[0], to, 7, pattern(size, 2));
        test_receive shorter(*world[static_cast<std::size_t>(to)], 0, 7, size - 1),
            right(*world[static_cast<std::size_t>(to)], 0, 7, size);
        const auto receive_both = [&] {
          job.of_rank(to).post(shorter);
          job.of_rank(to).post(right);
        };
        if (early) receive_both();
        job[0].post(send);
        job[0].post(next);
        job.settle();
        if (!early) receive_both();
        job.poll_until([&] { return all_done(send, next, shorter, right); }, "both messages");
        REQUIRE(shorter.failure != nullptr);
        const described_failure failure = describe(shorter.failure);
        CHECK(failure.code == errc::truncated);
        CHECK_THAT(failure.text, ContainsSubstring(std::to_string(size) + " bytes") &&
                                     ContainsSubstring("buffer " + std::to_string(size - 1)));
        if (size > 256 || (to == 1 && early)) {
          REQUIRE(send.failure != nullptr);
          CHECK(describe(send.failure).code == errc::truncated);
          CHECK_THAT(describe(send.failure).text,
                     ContainsSubstring(std::to_string(size)) && ContainsSubstring(std::to_string(size - 1)));
        }
        CHECK(right.failure == nullptr);
        CHECK(right.message == pattern(size, 2));
        CHECK(next.failure == nullptr);
      }
}

TEST_CASE("messages to a rank that has left end", "[messenger]") {
  for (const bool before : {true, false})
    for (const std::size_t size : {10, 5000}) {
      CAPTURE(before, size);
      messenger_job job(small_shape(2, 2));
      const auto world = job.world();
      std::deque<test_send> sends;
      const auto send_all = [&] {
        for (const int to : {1, 2}) job[0].post(sends.emplace_back(*world[0], to, 4, pattern(size, 1)));
      };
      if (before) send_all();
      job.settle();
      job[0].leave(*world[1]);
      job[1].leave(*world[2]);
      if (!before) send_all();
      job.poll_until([&] { return sends[0].done && sends[1].done; }, "sends to nobody");
      job.settle();
      CHECK(job[0].quiet());
      CHECK(job[1].quiet());
      CHECK_THROWS_AS(job[0].join(*world[1]), weft::error);
    }
}

TEST_CASE("messengers go away with things in flight", "[messenger]") {
  const std::uint64_t seed = test_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int run = 0; run < 50; ++run) {
    job_shape shape = small_shape(3, 2);
    shape.network.queue = 3;
    shape.network.jitter_seed = random() | 1;
    messenger_job job(shape);
    const auto world = job.world();
    for (int i = 0; i < 60; ++i) {
      const auto from = random() % 6, to = random() % 6;
      const std::size_t size = random() % 4000;
      const bool collective = random() % 2;
      if (random() % 2)
        job.of_rank(static_cast<int>(from))
            .post(job.sends.emplace_back(*world[from], static_cast<int>(to), i / 4, pattern(size, 1), collective, 1));
      else
        job.of_rank(static_cast<int>(to))
            .post(job.receives.emplace_back(*world[to], static_cast<int>(from), i / 4, size, collective, 1));
      if (random() % 3 == 0) job.poll();
    }
    job.destroy(static_cast<int>(random() % 3));
    for (int i = 0; i < 20; ++i) job.poll();
  }
}
