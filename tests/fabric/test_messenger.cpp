// What the messenger promises, one promise at a time.
#include "catch.hpp"
#include "fabric/messenger_job.hpp"

using namespace weft_test;
using weft::errc;
using weft::fabric::any_message_tag;
using weft::fabric::any_peer;
using weft::fabric::message_kind;

namespace {

job_shape small_job(int processes, int ranks_each = 1) {
  job_shape shape;
  shape.processes = processes;
  shape.ranks_each = ranks_each;
  shape.settings.eager_limit = 256;
  shape.settings.credit = 4096;
  shape.settings.unexpected_limit = 8192;
  shape.settings.send_buffer_limit = 16384;
  shape.settings.piece = 1024;
  shape.settings.window = 4096;
  return shape;
}

template <class... Operation>
bool all_done(const Operation&... each) {
  return (each.done && ...);
}

}  // namespace

TEST_CASE("a message of every length arrives, before its receive and after", "[messenger]") {
  for (const bool early : {false, true}) {
    messenger_job job(small_job(2, 2));
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

TEST_CASE("10,000 messages wait while one of another tag is received", "[messenger]") {
  messenger_job job(small_job(2));
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
  job_shape shape = small_job(2);
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

TEST_CASE("a receive that is too short names both lengths and harms nothing", "[messenger]") {
  for (const bool early : {false, true})
    for (const int to : {1, 2})
      for (const std::size_t size : {200, 5000}) {
        CAPTURE(early, to, size);
        messenger_job job(small_job(2, 2));
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

TEST_CASE("collectives' long messages are granted before they are sent", "[messenger]") {
  for (const bool receiver_first : {true, false})
    for (const std::size_t size : {257, 1024, 2049, 50001}) {
      CAPTURE(receiver_first, size);
      messenger_job job(small_job(3));
      const auto world = job.world();
      std::deque<test_send> sends;
      std::deque<test_receive> receives;
      const auto send_all = [&] {
        for (std::uint64_t i = 0; i < 12; ++i)
          job[0].post(sends.emplace_back(*world[0], 1 + static_cast<int>(i) % 2, 100 + i, pattern(size, i), true, 6));
      };
      const auto receive_all = [&] {
        for (std::uint64_t i = 0; i < 12; ++i)
          job[1 + static_cast<int>(i) % 2].post(receives.emplace_back(*world[1 + i % 2], 0, 100 + i, size, true, 6));
      };
      receiver_first ? receive_all() : send_all();
      job.settle();
      if (receiver_first) CHECK(job.counts(1).of(message_kind::grant) == 6);
      receiver_first ? send_all() : receive_all();
      job.poll_until(
          [&] {
            return std::all_of(receives.begin(), receives.end(), [](const auto& each) { return each.done.load(); });
          },
          "the messages");
      job.settle();
      for (std::uint64_t i = 0; i < 12; ++i) {
        CHECK(receives[i].message == pattern(size, i));
        CHECK(sends[i].done);
        CHECK(sends[i].failure == nullptr);
      }
      CHECK(job.total().of(message_kind::envelope) == 0);
      CHECK(job[0].quiet());
    }
}

TEST_CASE("a provider that takes one receive at a time grants a collective's message piece by piece", "[messenger]") {
  messenger_job job(small_job(2));
  const auto world = job.world();
  job.link(1).most_receives = 1;
  test_receive first(*world[1], 0, 1, 20000, true, 1), second(*world[1], 0, 2, 20000, true, 1);
  job[1].post(first);
  job[1].post(second);
  job.settle();
  job.link(1).most_receives = 3;
  job.settle();  // the rest of what is granted early, before either send has begun
  CHECK(job.counts(1).of(message_kind::grant) == 3);
  test_send other(*world[0], 1, 2, pattern(20000, 2), true, 1), one(*world[0], 1, 1, pattern(20000, 1), true, 1);
  job[0].post(other);
  job[0].post(one);
  job.poll_until([&] { return all_done(first, second, one, other); }, "both messages");
  CHECK(first.message == pattern(20000, 1));
  CHECK(second.message == pattern(20000, 2));
}

TEST_CASE("calls that differ break the communicator on every process and name both sides", "[messenger]") {
  // Who meets whom: sizes as the sender and the receiver see them, and who comes first.
  struct meeting {
    int to;
    std::size_t sent, expected;
    std::uint64_t theirs;
  };
  for (const bool early : {false, true})
    for (const meeting how : {meeting{2, 100, 100, 2},
                              {2, 100, 5000, 2},
                              {2, 5000, 5000, 2},
                              {2, 5000, 6000, 1},
                              {2, 100, 5000, 1},
                              {2, 100, 90, 1},
                              {1, 100, 100, 2},
                              {1, 5000, 5000, 2},
                              {1, 5000, 6000, 1}}) {
      CAPTURE(early, how.to, how.sent, how.expected, how.theirs);
      messenger_job job(small_job(3, 2));
      const auto world = job.world();
      const auto others = job.world(2);
      test_send send(*world[0], how.to, 9, pattern(how.sent, 1), true, 1);
      test_receive receive(*world[static_cast<std::size_t>(how.to)], 0, 9, how.expected, true, how.theirs);
      test_receive bystander(*world[4], 5, 1, 10), distant(*world[5], 0, 1, 2000, true, 1);
      job[2].post(bystander);
      job[2].post(distant);
      if (early) job.of_rank(how.to).post(receive);
      job.settle();
      job[0].post(send);
      job.settle();
      if (!early) job.of_rank(how.to).post(receive);
      job.poll_until([&] { return all_done(send, receive, bystander, distant); }, "the end of everything");
      for (const weft::fabric::operation* each :
           {static_cast<weft::fabric::operation*>(&receive), static_cast<weft::fabric::operation*>(&bystander),
            static_cast<weft::fabric::operation*>(&distant)}) {
        REQUIRE(each->failure != nullptr);
        const described_failure failure = describe(each->failure);
        CAPTURE(failure.text);
        if (how.theirs == 2) {
          CHECK(failure.code == errc::mismatched_call);
          CHECK_THAT(failure.text, ContainsSubstring("call number 1") && ContainsSubstring("call number 2") &&
                                       ContainsSubstring("rank 0") &&
                                       ContainsSubstring("rank " + std::to_string(how.to)));
        }
      }
      CHECK(send.endings == 1);
      CHECK(receive.endings == 1);
      // Another communicator of the same ranks knows nothing of it.
      test_send fine(*others[0], how.to, 9, pattern(how.sent, 3), true, 1);
      test_receive fine_too(*others[static_cast<std::size_t>(how.to)], 0, 9, how.sent, true, 1);
      job[0].post(fine);
      job.of_rank(how.to).post(fine_too);
      job.poll_until([&] { return all_done(fine, fine_too); }, "another communicator's message");
      CHECK(fine_too.message == pattern(how.sent, 3));
      test_send late(*world[0], 3, 1, {});
      job[0].post(late);
      CHECK(late.done);
      CHECK(late.failure != nullptr);
    }
}

TEST_CASE("messages to a rank that has left end", "[messenger]") {
  for (const bool before : {true, false})
    for (const std::size_t size : {10, 5000}) {
      CAPTURE(before, size);
      messenger_job job(small_job(2, 2));
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

TEST_CASE("a rank that gives up alone does not leave its partners hanging", "[messenger]") {
  messenger_job job(small_job(2, 2));
  const auto world = job.world();
  SECTION("while it receives what is being sent") {
    test_send send(*world[0], 2, 1, pattern(100000, 1));
    test_receive receive(*world[2], 0, 1, 100000);
    job[0].post(send);
    job[1].post(receive);
    for (int i = 0; i < 4; ++i) job.poll();
    job[1].break_here(*world[2]);
    job.poll_until([&] { return receive.done.load(); }, "the receive's end");
    CHECK(describe(receive.failure).code == errc::revoked);
    job.settle();
    job[1].leave(*world[2]);
    job[0].break_here(*world[0]);
    CHECK(send.done);
  }
  SECTION("while it sends") {
    const bool collective = GENERATE(false, true);
    test_send send(*world[0], 2, 1, pattern(100000, 1), collective, 1);
    test_receive receive(*world[2], 0, 1, 100000, collective, 1);
    job[1].post(receive);
    job[0].post(send);
    for (int i = 0; i < 4; ++i) job.poll();
    job[0].break_here(*world[0]);
    job.poll_until([&] { return all_done(send, receive); }, "both ends");
    CHECK(describe(send.failure).code == errc::revoked);
    CHECK(describe(receive.failure).code == errc::operation_failed);
  }
  SECTION("while a grant waits for it") {
    test_receive receive(*world[2], 0, 1, 100000, true, 1);
    job[1].post(receive);
    job.settle();
    job[0].break_here(*world[0]);
    job.poll_until([&] { return receive.done.load(); }, "the receive's end");
    CHECK(describe(receive.failure).code == errc::operation_failed);
  }
}

TEST_CASE("strangers' frames are dropped, and a gap in the sequence ends the connection", "[messenger]") {
  job_shape shape = small_job(2);
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
  messenger_job job(small_job(3));
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

TEST_CASE("messengers go away with things in flight", "[messenger]") {
  const std::uint64_t seed = test_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int run = 0; run < 50; ++run) {
    job_shape shape = small_job(3, 2);
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

TEST_CASE("what is said of credit never takes more of a ring than it has beside the credit", "[messenger]") {
  // Each message, however short, crosses the limit as it comes, and again as it is received; the sender takes nothing
  // in meanwhile.
  job_shape shape = small_job(2);
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
