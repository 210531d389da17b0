// SPDX-License-Identifier: Apache-2.0
// Ranks that leave a communicator, or never get it, while others wait for them.
#include "catch.hpp"
#include "fabric/messenger_job.hpp"

using namespace weft_test;
using weft::errc;

namespace {

/// Everything that a rank can wait for another with, each in a communicator of its own of two ranks.
class waiting_operations {
 public:
  static constexpr std::uint64_t most = 16;

  /// By rank 0 of the world for rank 1.
  waiting_operations(messenger_job& job, std::uint64_t first_id) : job_(job) {
    const bytes longer = pattern(50'000, 1);
    const auto new_communicator = [&] { return members_.emplace_back(job.communicator(first_id++, {0, 1})); };
    const auto receive = [&](std::size_t length, bool collective) {
      job[0].post(job.receives.emplace_back(*new_communicator()[0], 1, 1, length, collective, 1));
    };
    const auto send = [&](const bytes& message, bool collective) {
      job[0].post(job.sends.emplace_back(*new_communicator()[0], 1, 1, message, collective, 1));
    };
    for (const bool collective : {true, false})
      for (const std::size_t length : {std::size_t{8}, longer.size()}) receive(length, collective);
    if (job.process_of(1) != 0) send(longer, true);  // one within a process ends when its receiver leaves
    job.settle();
  }

  /// All that rank 1 joined.
  void leave_all() {
    for (const auto& both : members_) job_.of_rank(1).leave(*both[1]);
  }

  /// Waits until all have ended, and says how: the same way.
  std::vector<described_failure> outcomes() {
    std::vector<described_failure> all;
    const auto take = [&](const auto& each) {
      job_.poll_until([&] { return each.done.load(); }, "an operation that waits in vain");
      REQUIRE(each.failure != nullptr);
      all.push_back(describe(each.failure));
    };
    for (const auto& each : job_.receives) take(each);
    for (const auto& each : job_.sends) take(each);
    return all;
  }

 private:
  messenger_job& job_;
  std::vector<std::vector<fabric::participant*>> members_;
};

}  // namespace

TEST_CASE("who waits for a rank that has left is told", "[messenger][departures]") {
  const int ranks_each = GENERATE(1, 2);
  CAPTURE(ranks_each);
  messenger_job job(small_shape(2, ranks_each));
  waiting_operations all(job, 100);
  all.leave_all();
  for (const described_failure& each : all.outcomes()) {
    CHECK(each.code == errc::mismatched_call);
    CHECK_THAT(each.text, ContainsSubstring("rank 1 has left communicator 1"));
  }
}

TEST_CASE("who waits for a rank that has left after a loss is told of that", "[messenger][departures]") {
  const int knows = GENERATE(0, 1);  // who waits, or who leaves
  CAPTURE(knows);
  messenger_job job(small_shape(3));
  waiting_operations all(job, 100);
  job.kill(2);
  job[knows].lose(2, "it was killed");
  job.settle();
  all.leave_all();
  for (const described_failure& each : all.outcomes()) {
    CHECK(each.code == errc::peer_lost);
    CHECK_THAT(each.text, ContainsSubstring("rank 2 of the world was lost"));
  }
}

TEST_CASE("who waits for anybody waits until a loss is known", "[messenger][departures]") {
  messenger_job job(small_shape(3));
  const auto both = job.communicator(100, {0, 1});
  test_receive receive(*both[0], fabric::any_peer, 1, 8);
  job[0].post(receive);
  job.of_rank(1).leave(*both[1]);
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1200);
  while (std::chrono::steady_clock::now() < end) job.poll();
  CHECK_FALSE(receive.done);
  job[0].lose(2, "it was killed");
  job.poll_until([&] { return receive.done.load(); }, "a receive in vain");
  CHECK(describe(receive.failure).code == errc::peer_lost);
}

TEST_CASE("who waits for a rank that failed is told why, however late that comes", "[messenger][departures]") {
  const bool leaves = GENERATE(true, false);  // or its process is about to end
  messenger_job job(small_shape(2));
  const auto both = job.communicator(100, {0, 1});
  test_receive receive(*both[0], 1, 1, 8);
  job[0].post(receive);
  job.settle();
  job.hold_notes = true;
  job[1].break_communicator(100, errc::revoked, "the test broke it");
  if (leaves)
    job.of_rank(1).leave(*both[1]);
  else
    job[1].retire(999);
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1200);
  while (std::chrono::steady_clock::now() < end) job.poll();
  CHECK_FALSE(receive.done);
  job.hold_notes = false;
  job.poll_until([&] { return receive.done.load(); }, "the reason");
  CHECK(describe(receive.failure).code == errc::revoked);
}

TEST_CASE("who probes for a rank that has left is told once", "[messenger][departures]") {
  messenger_job job(small_shape(2));
  const auto both = job.communicator(100, {0, 1});
  job.of_rank(1).leave(*both[1]);
  const auto probe = [&] { return job[0].probe(*both[0], 1, 1).has_value(); };
  std::string text;
  job.poll_until(
      [&] {
        try {
          probe();
        } catch (const weft::error& e) {
          text = e.what();
        }
        return !text.empty();
      },
      "a probe in vain");
  CHECK_THAT(text, ContainsSubstring("rank 1 has left communicator 100"));
  CHECK_FALSE(probe());
}

TEST_CASE("what a rank sent before it left arrives, whoever inquires meanwhile", "[messenger][departures]") {
  auto shape = small_shape(3);
  shape.settings.credit = 2048;                 // so that most of it waits at its sender
  shape.settings.send_buffer_limit = 64 << 10;  // and all of it
  messenger_job job(shape);
  const auto both = job.communicator(100, {0, 1});
  job.kill(2);
  for (const int process : {0, 1}) job[process].lose(2, "it was killed");
  job.settle();
  constexpr std::uint64_t many = 64;
  for (std::uint64_t i = 0; i < many; ++i) job[1].post(job.sends.emplace_back(*both[1], 0, i, pattern(200, i)));
  test_receive last(*both[0], 1, many - 1, 200);
  job[0].post(last);
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
  while (std::chrono::steady_clock::now() < end) job[0].poll();  // it inquires
  while (!std::ranges::all_of(job.sends, [](const auto& each) { return each.done.load(); })) job.poll();
  job.of_rank(1).leave(*both[1]);
  job.poll_until([&] { return last.done.load(); }, "the last message");
  CHECK(last.failure == nullptr);
  CHECK(last.message == pattern(200, many - 1));
}

TEST_CASE("who did not get a communicator is missed by those who did", "[messenger][departures]") {
  const bool at_home = GENERATE(false, true);
  const bool refuses_first = GENERATE(false, true);
  CAPTURE(at_home, refuses_first);
  messenger_job job(small_shape(2, 2));
  const int other = at_home ? 1 : 2;
  auto members = std::make_shared<fabric::group>();
  *members = {7, {0, other}, {0, job.process_of(other)}, {}, {7, 9}};
  fabric::participant mine(members, 0);
  if (refuses_first) job.of_rank(other).refuse(other, 9);
  job[0].join(mine);
  test_receive receive(mine, 1, 1, 50'000, true, 1);
  test_receive message(mine, 1, 1, 8);
  job[0].post(receive);
  job[0].post(message);
  job.settle();
  job.of_rank(other).refuse(other, 8);  // another one
  if (!refuses_first) job.of_rank(other).refuse(other, 9);
  job.poll_until([&] { return receive.done && message.done; }, "receives in vain");
  for (const test_receive* each : {&receive, &message}) CHECK(describe(each->failure).code == errc::mismatched_call);
  job[0].leave(mine);
}

TEST_CASE("a process that is about to end is missed in every communicator", "[messenger][departures]") {
  messenger_job job(small_shape(2));
  waiting_operations all(job, 100);
  all.leave_all();
  auto members = std::make_shared<fabric::group>();
  *members = {200, {0, 1}, {0, 1}};
  fabric::participant mine(members, 0);  // which process 1 never heard of
  job[0].join(mine);
  const auto kept = job.communicator(201, {0, 1}), world = job.communicator(999, {0, 1});
  test_receive receive(mine, 1, 1, 8, true, 1), of_kept(*kept[0], 1, 1, 8), of_world(*world[0], 1, 1, 8);
  job[0].post(receive);
  job[0].post(of_kept);
  job[0].post(of_world);
  job[1].retire(999);
  job.poll_until([&] { return receive.done && of_kept.done; }, "receives in vain");
  for (const test_receive* each : {&receive, &of_kept}) CHECK(describe(each->failure).code == errc::mismatched_call);
  CHECK_FALSE(of_world.done);
  test_send send(*world[1], 0, 1, pattern(8, 1));
  job[1].post(send);
  job.poll_until([&] { return of_world.done.load(); }, "the message of the communicator that stays");
  CHECK(of_world.failure == nullptr);
  job[0].leave(mine);
}

TEST_CASE("of several ranks of a process one that leaves is missed in later collectives alone",
          "[messenger][departures]") {
  messenger_job job(small_shape(2, 2));
  const auto all = job.communicator(100, {0, 1, 2, 3});
  const auto tag_of = [](std::uint64_t sequence) { return sequence << 32; };
  constexpr std::uint64_t next = 0x3fff'ffff;  // numbers run over behind it
  all[3]->next_collective = next;
  job.of_rank(3).leave(*all[3]);
  test_receive before(*all[0], 2, tag_of(next - 1), 8, true, 1), message(*all[0], 2, 1, 8);
  test_receive of_plan(*all[0], 2, tag_of(0x8000'0000), 8, true, 1);
  test_receive after(*all[1], 2, tag_of(0), 8, true, 1);
  for (test_receive* each : {&before, &message, &of_plan}) job[0].post(*each);
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1200);
  while (std::chrono::steady_clock::now() < end) job.poll();
  CHECK_FALSE((before.done || message.done || of_plan.done));
  job[0].post(after);
  job.poll_until([&] { return after.done.load(); }, "a receive in vain");
  CHECK(describe(after.failure).code == errc::mismatched_call);
  CHECK_THAT(describe(before.failure).text, ContainsSubstring("rank 2 has left"));  // the communicator has failed
}

TEST_CASE("what nobody waits for yet does not fail its communicator", "[messenger][departures]") {
  const std::size_t length = GENERATE(8, 50'000);
  CAPTURE(length);
  messenger_job job(small_shape(2));
  const auto both = job.communicator(100, {0, 1});
  test_receive ahead(*both[0], 1, std::uint64_t{0x8000'0000} << 32, length, true, 1);
  ahead.ahead = true;
  job[0].post(ahead);
  job.of_rank(1).leave(*both[1]);
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1200);
  while (std::chrono::steady_clock::now() < end) job.poll();
  CHECK(both[0]->failure == nullptr);
  job[0].while_held([&] { ahead.ahead = false; });
  if (!ahead.done) {
    job.poll_until([&] { return ahead.done.load(); }, "a receive in vain");
    CHECK(both[0]->failure != nullptr);
  }
  CHECK(describe(ahead.failure).code == errc::mismatched_call);
}

TEST_CASE("probes for one rank after another are told of the one that has left", "[messenger][departures]") {
  messenger_job job(small_shape(3));
  const auto all = job.communicator(100, {0, 1, 2});
  const auto probe = [&](int source) { return job[0].probe(*all[0], source, 1).has_value(); };
  job.of_rank(2).leave(*all[2]);
  std::string text;
  for (int i = 0; text.empty(); ++i) {
    job.poll();
    try {
      probe(1 + i / 1000 % 2);
    } catch (const weft::error& e) {
      text = e.what();
      CHECK(i / 1000 % 2 == 1);
    }
  }
  CHECK_THAT(text, ContainsSubstring("rank 2 has left communicator 100"));
  CHECK_FALSE(probe(1));
}

TEST_CASE("inquiries do not pile up for a process that takes nothing", "[messenger][failures]") {
  weft::manual_clock time;
  auto shape = small_shape(3);
  shape.settings.time = &time;
  messenger_job job(shape);
  const auto pair = job.communicator(1, {0, 1});
  auto& receive = job.receives.emplace_back(*pair[0], 1, 1, 10);
  job[0].post(receive);
  job.kill(2);
  job[0].lose(2, "by the test");
  job.settle();
  job.link(0).refusing = true;
  const auto look = [&](int times) {
    for (int i = 0; i < times; ++i) {
      time.advance(std::chrono::milliseconds(10));
      job[0].listen();
      job[0].poll();
    }
  };
  look(1000);
  job.link(0).refusing = false;
  job.settle();
  CHECK(job.counts(0).of(message_kind::inquiry) == 1);
  look(20);
  CHECK(job.counts(0).of(message_kind::inquiry) > 1);
}
