// SPDX-License-Identifier: Apache-2.0
// What the messenger promises to collectives.
#include "catch.hpp"
#include "fabric/messenger_job.hpp"

using namespace weft_test;
using weft::errc;
using weft::fabric::message_kind;

TEST_CASE("collectives' long messages are granted before they are sent, but of a short vector", "[messenger]") {
  const job_shape shape = small_shape(3);
  const std::size_t most = weft::fabric::longest_at_once(shape.settings.eager_limit, shape.settings.credit);
  REQUIRE(most > 257);
  const auto [size, vector] = GENERATE_COPY(table<std::size_t, std::size_t>({{257, SIZE_MAX},
                                                                             {257, most + 1},
                                                                             {257, most},
                                                                             {most, most},
                                                                             {1024, 1024},
                                                                             {2049, SIZE_MAX},
                                                                             {50001, SIZE_MAX}}));
  const bool at_once = vector <= most;
  for (const bool receiver_first : {true, false}) {
    CAPTURE(receiver_first, size, vector);
    messenger_job job(shape);
    const auto world = job.world();
    std::deque<test_send> sends;
    std::deque<test_receive> receives;
    const auto send_all = [&] {
      for (std::uint64_t i = 0; i < 12; ++i) {
        const int to = 1 + static_cast<int>(i) % 2;
        sends.emplace_back(*world[0], to, 100 + i, pattern(size, i), true, 6).vector = vector;
        job[0].post(sends.back());
      }
    };
    const auto receive_all = [&] {
      for (std::uint64_t i = 0; i < 12; ++i) {
        receives.emplace_back(*world[1 + i % 2], 0, 100 + i, size, true, 6).vector = vector;
        job[1 + static_cast<int>(i) % 2].post(receives.back());
      }
    };
    receiver_first ? receive_all() : send_all();
    job.settle();
    if (receiver_first) CHECK(job.counts(1).of(message_kind::grant) == (at_once ? 0 : 6));
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
    CHECK((job.total().of(message_kind::grant) == 0) == at_once);
    CHECK(job[0].quiet());
  }
}

TEST_CASE("where payloads pass in turn, a message's pieces go before those of messages behind it", "[messenger]") {
  const bool in_turn = GENERATE(true, false);
  auto shape = small_shape(2);  // pieces of 1 KiB
  shape.network.in_turn = in_turn;
  messenger_job job(shape);
  const auto world = job.world();
  std::deque<test_send> sends;
  std::deque<test_receive> receives;
  for (std::uint64_t i = 0; i < 3; ++i)
    job[1].post(receives.emplace_back(*world[1], 0, 100 + i, std::size_t{6144}, true, 6));
  job.settle();
  for (std::uint64_t i = 0; i < 3; ++i)
    job[0].post(sends.emplace_back(*world[0], 1, 100 + i, pattern(6144, i), true, 6));
  job.poll_until([&] { return all_done(receives[0], receives[1], receives[2]); }, "the messages");
  job.settle();
  for (std::uint64_t i = 0; i < 3; ++i) CHECK(receives[i].message == pattern(6144, i));
  const std::vector<std::uint64_t>& tags = job.link(0).sent_payloads;
  REQUIRE(tags.size() == 18);
  const auto message_of = [](std::uint64_t tag) { return static_cast<std::uint32_t>(tag); };  // its piece is above
  const bool whole = std::ranges::all_of(tags.begin(), tags.begin() + 6,
                                         [&](std::uint64_t tag) { return message_of(tag) == message_of(tags[0]); });
  CHECK(whole == in_turn);
}

TEST_CASE("collectives' long messages are announced where nothing is posted in advance", "[messenger]") {
  for (const bool receiver_first : {true, false}) {
    auto shape = small_shape(2);
    shape.settings.prepost = false;
    messenger_job job(shape);
    const auto world = job.world();
    test_send send(*world[0], 1, 100, pattern(50001, 1), true, 6);
    test_receive receive(*world[1], 0, 100, 50001, true, 6);
    receiver_first ? job[1].post(receive) : job[0].post(send);
    job.settle();
    CHECK(job.total().of(message_kind::grant) == 0);
    CHECK(job.total().of(message_kind::envelope) == (receiver_first ? 0 : 1));
    receiver_first ? job[0].post(send) : job[1].post(receive);
    job.poll_until([&] { return receive.done.load() && send.done.load(); }, "the message");
    CHECK(receive.message == pattern(50001, 1));
    CHECK(job.total().of(message_kind::envelope) == 1);
  }
}

TEST_CASE("a provider that takes one receive at a time grants a collective's message piece by piece", "[messenger]") {
  messenger_job job(small_shape(2));
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

TEST_CASE("what is granted to ranks that are not ready leaves room for those that are", "[messenger]") {
  const std::size_t receives = GENERATE(1, 2, 4, 9);
  CAPTURE(receives);
  auto shape = small_shape(3);
  shape.network.receives = receives;
  messenger_job job(shape);
  const auto world = job.world();
  constexpr std::uint64_t messages = 20;
  std::deque<test_receive> posted;
  for (std::uint64_t i = 0; i < messages; ++i)
    job[0].post(posted.emplace_back(*world[0], 1 + static_cast<int>(i) % 2, i, 5001, true, 1));
  job.settle();
  // The last first, each once the one before has arrived: nothing that was posted ahead of it ends before it does.
  for (std::uint64_t i = messages; i-- > 0;) {
    const int from = 1 + static_cast<int>(i) % 2;
    auto& send = job.sends.emplace_back(*world[static_cast<std::size_t>(from)], 0, i, pattern(5001, i), true, 1);
    job[from].post(send);
    job.poll_until([&] { return all_done(send, posted[i]); }, "a message behind others that are not sent yet");
    CHECK(posted[i].message == pattern(5001, i));
  }
  job.settle();
  CHECK(job.total().of(message_kind::ready) >= messages - receives);
  CHECK(job.total().of(message_kind::envelope) == 0);
  CHECK(job[0].quiet());
}

TEST_CASE("a message that was ready before its receiver asks is sent when it does", "[messenger]") {
  auto shape = small_shape(2);
  shape.network.receives = 1;
  messenger_job job(shape);
  const auto world = job.world();
  test_send send(*world[0], 1, 1, pattern(5001, 1), true, 1);
  job[0].post(send);
  job.settle();
  test_receive receive(*world[1], 0, 1, 5001, true, 1);
  job[1].post(receive);
  job.poll_until([&] { return all_done(send, receive); }, "the message");
  CHECK(receive.message == pattern(5001, 1));
}

TEST_CASE("calls that differ break the communicator on every process and name both sides", "[messenger]") {
  // Who meets whom: sizes as the sender and the receiver see them, and who comes first.
  struct meeting {
    int to;
    std::size_t sent, expected;
    std::uint64_t theirs;
  };
  for (const std::size_t receives : {SIZE_MAX, std::size_t{1}})
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
        CAPTURE(receives, early, how.to, how.sent, how.expected, how.theirs);
        auto shape = small_shape(3, 2);
        shape.network.receives = receives;
        messenger_job job(shape);
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

TEST_CASE("a rank that gives up alone does not leave its partners hanging", "[messenger]") {
  auto shape = small_shape(2, 2);
  shape.network.receives = GENERATE(SIZE_MAX, std::size_t{1});
  messenger_job job(shape);
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

TEST_CASE("a long message whose receiver expects a short one is told of where both wait", "[messenger]") {
  const bool of_another = GENERATE(false, true);
  messenger_job job(small_shape(3));
  const auto world = job.world();
  auto& send = job.sends.emplace_back(*world[0], 1, 1, pattern(10'000, 1), true, 5);
  auto& receive = job.receives.emplace_back(*world[1], of_another ? 2 : 0, 1, 100, true, 5);
  job[1].post(receive);
  job[0].post(send);
  if (of_another) {  // that of another rank
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1500);
    while (std::chrono::steady_clock::now() < end) job.poll();
    CHECK_FALSE(receive.done);
    CHECK_FALSE(send.done);
    return;
  }
  job.poll_until([&] { return all_done(send, receive); }, "the mismatch");
  for (const std::exception_ptr& failure : {send.failure, receive.failure}) {
    REQUIRE(failure != nullptr);
    CHECK(describe(failure).code == errc::mismatched_call);
    CHECK_THAT(describe(failure).text, ContainsSubstring("with other counts"));
  }
}
