// SPDX-License-Identifier: Apache-2.0
// Agreements of the ranks of a job over its messengers.
#include <array>
#include <deque>
#include <random>
#include <weft/runtime/clock.hpp>

#include "catch.hpp"
#include "fabric/failing_allocation.hpp"
#include "fabric/messenger_job.hpp"
#include "seed.hpp"

using namespace weft_test;
using weft::errc;

namespace {

struct test_agreement final : fabric::agreement_call {
  test_agreement(fabric::participant& of, std::uint32_t its_number, bytes what) {
    at = &of;
    number = its_number;
    given = std::move(what);
    combine = [](const fabric::group& members, std::span<const fabric::contribution> all) {
      const allocations_that_succeed unharmed;
      bytes value(members.world.size());
      for (const auto& each : all) {
        value[static_cast<std::size_t>(each.rank)] = static_cast<std::byte>(each.rank + 1);
        value.insert(value.end(), each.given.begin(), each.given.end());
      }
      return value;
    };
  }
  void finished() noexcept override { ++endings; }
  int endings = 0;
};

bytes pattern(std::size_t length, int of) { return bytes(length, static_cast<std::byte>(of + 'a')); }

/// Agreements of one communicator.
class agreeing {
 public:
  agreeing(messenger_job& job, std::vector<fabric::participant*> members)
      : job_(job), members_(std::move(members)), next_(members_.size()) {}

  test_agreement& call(int rank, std::size_t length = 3) {
    const auto index = static_cast<std::size_t>(rank);
    test_agreement& begun = calls_.emplace_back(*members_[index], next_[index]++, pattern(length, rank));
    job_.of_rank(members_[index]->members->world[index]).agree(begun);
    return begun;
  }
  void leave(int rank) {
    const auto index = static_cast<std::size_t>(rank);
    job_.of_rank(members_[index]->members->world[index]).leave(*members_[index]);
  }

 private:
  messenger_job& job_;
  std::vector<fabric::participant*> members_;
  std::vector<std::uint32_t> next_;
  std::deque<test_agreement> calls_;
};

void check_present(const test_agreement& one, std::vector<int> ranks, std::size_t length = 3) {
  REQUIRE(one.endings == 1);
  REQUIRE(one.failure == nullptr);
  bytes expected(one.at->members->world.size());
  for (const int rank : ranks) {
    expected[static_cast<std::size_t>(rank)] = static_cast<std::byte>(rank + 1);
    const bytes its = pattern(length, rank);
    expected.insert(expected.end(), its.begin(), its.end());
  }
  CHECK(*one.agreed == expected);
}

void lose(messenger_job& job, int dead) {
  job.kill(dead);
  for (int i = 0; i < job.processes(); ++i)
    if (job.alive(i)) job[i].lose(dead, "killed");
  job.settle();
}

}  // namespace

TEST_CASE("ranks agree over frames, short ones and many", "[agreements]") {
  const std::size_t length = GENERATE(0, 3, 255, 256, 300, 5000);
  const int each = GENERATE(1, 2);
  messenger_job job(small_shape(3, each));
  agreeing world(job, job.world());
  for (int round = 0; round < 3; ++round) {
    std::vector<const test_agreement*> calls;
    std::vector<int> all;
    for (int rank = job.ranks() - 1; rank >= 0; --rank) {
      for (const auto* earlier : calls) CHECK(earlier->endings == 0);
      calls.push_back(&world.call(rank, length));
      all.insert(all.begin(), rank);
      job.settle();
    }
    for (const auto* one : calls) check_present(*one, all, length);
  }
  CHECK(job.suspicions.empty());
}

TEST_CASE("agreements go on in a communicator that has failed", "[agreements]") {
  messenger_job job(small_shape(3));
  agreeing world(job, job.world());
  job[1].break_communicator(1, errc::revoked, "for a test");
  job.settle();
  const auto &a = world.call(0), &b = world.call(1), &c = world.call(2);
  job.settle();
  for (const auto* one : {&a, &b, &c}) check_present(*one, {0, 1, 2});
}

TEST_CASE("the dead are missing from what is agreed on, and who had the answer answers for it", "[agreements]") {
  messenger_job job(small_shape(4));
  agreeing world(job, job.world());
  const int dead = GENERATE(0, 2, 3);
  const bool calls_before = GENERATE(true, false);
  CAPTURE(dead, calls_before);
  std::vector<const test_agreement*> calls;
  std::vector<int> living;
  if (calls_before) world.call(dead);
  for (int rank = 0; rank < 4; ++rank) {
    if (rank == dead) continue;
    if (living.size() == 2) lose(job, dead);
    calls.push_back(&world.call(rank));
    living.push_back(rank);
    job.settle();
  }
  for (const auto* one : calls) check_present(*one, living);
}

TEST_CASE("an answer that only one process has got is everybody's, though that has left", "[agreements]") {
  messenger_job job(small_shape(3));
  agreeing world(job, job.world());
  const auto &a = world.call(0), &b = world.call(1), &c = world.call(2);
  // Rank 1 hears that it is decided, and rank 2 does not, before 0 dies.
  for (int i = 0; i < 1000 && b.endings == 0; ++i)
    for (const int process : {0, 1}) {
      job[process].poll();
      if (a.endings == 0) job[2].poll();
    }
  REQUIRE(a.endings == 1);
  REQUIRE(b.endings == 1);
  REQUIRE(c.endings == 0);
  world.leave(1);
  lose(job, 0);
  check_present(b, {0, 1, 2});
  check_present(c, {0, 1, 2});
}

TEST_CASE("who has left is missing, and who leaves in the middle, too", "[agreements]") {
  const int leaver = GENERATE(0, 1, 2);
  const bool early = GENERATE(true, false);
  CAPTURE(leaver, early);
  messenger_job job(small_shape(3));
  agreeing world(job, job.world());
  if (early) world.leave(leaver);
  std::vector<const test_agreement*> calls;
  std::vector<int> others;
  for (int rank = 0; rank < 3; ++rank) {
    if (rank == leaver) continue;
    calls.push_back(&world.call(rank));
    others.push_back(rank);
    job.settle();
  }
  if (!early) world.leave(leaver);
  job.poll_until([&] { return calls[0]->endings + calls[1]->endings == 2; }, "an answer");
  for (const auto* one : calls) check_present(*one, others);
}

TEST_CASE("one of two ranks of a process leaves, and the other one takes part", "[agreements]") {
  messenger_job job(small_shape(2, 2));
  agreeing world(job, job.world());
  const auto &a = world.call(0), &c = world.call(2), &d = world.call(3);
  job.settle();
  CHECK(a.endings == 0);
  world.leave(1);
  job.settle();
  for (const auto* one : {&a, &c, &d}) check_present(*one, {0, 2, 3});
}

TEST_CASE("a rank is waited for though the first one of its process has left before", "[agreements]") {
  messenger_job job(small_shape(2, 2));
  agreeing world(job, job.world());
  world.leave(0);
  const auto &c = world.call(2), &d = world.call(3);
  job.settle();  // the first process hears of it before its rank has called
  CHECK(c.endings + d.endings == 0);
  const auto& b = world.call(1);
  job.settle();
  for (const auto* one : {&b, &c, &d}) check_present(*one, {1, 2, 3});
}

TEST_CASE("agreements of a process that the others have given up fail", "[agreements]") {
  messenger_job job(small_shape(3));
  agreeing world(job, job.world());
  const auto& a = world.call(0);
  job.settle();
  job[0].lose(0, "it was silent");
  job.settle();
  CHECK(a.endings == 1);
  CHECK(describe(a.failure).code == errc::peer_lost);
  const auto& again = world.call(0);
  CHECK(again.endings == 1);
  CHECK(describe(again.failure).code == errc::peer_lost);
}

TEST_CASE("of communicators that were left a bounded number is remembered", "[agreements]") {
  messenger_job job(small_shape(2));
  std::uint64_t id = 0;
  const auto growth = [&](std::uint64_t many, bool agree) {  // by so many communicators: the test's own, too
    const std::int64_t before = bytes_in_use();
    for (const std::uint64_t end = id + many; id < end; ++id) {
      agreeing some(job, job.communicator(id + 1, {0, 1}));
      if (agree) {
        const auto &a = some.call(0), &b = some.call(1);
        job.settle();
        REQUIRE(a.endings + b.endings == 2);
      }
      some.leave(0);
      some.leave(1);
    }
    return bytes_in_use() - before;
  };
  growth(2000, true);
  const std::int64_t without = growth(1000, false);
  CHECK(growth(1000, true) < without + 300'000);
}

TEST_CASE("agreements without memory end", "[agreements]") {
  for (std::int64_t fail_at = 0;; ++fail_at) {
    messenger_job job(small_shape(3));
    agreeing world(job, job.world());
    std::vector<const test_agreement*> calls;
    for (int rank = 0; rank < 3; ++rank) calls.push_back(&world.call(rank));
    auto& faults = allocation_faults::here();
    faults.fail_at = fail_at;
    faults.count = 0;
    {
      const allocations_that_may_fail harmed;
      job.settle();
    }
    const bool failed = faults.count > fail_at;
    faults.fail_at = -1;
    CAPTURE(fail_at);
    const auto all_know = [&] {
      for (const auto& each : std::exchange(job.suspicions, {})) {
        job.link(each.process).frozen = true;
        for (int i = 0; i < 3; ++i) job[i].lose(each.process, each.why);
      }
      int ended = 0;
      for (int rank = 0; rank < 3; ++rank)
        ended += calls[static_cast<std::size_t>(rank)]->endings != 0 || !job.alive(rank);
      return ended == 3;
    };
    job.poll_until(all_know, "an end");
    if (!failed) {
      CHECK(fail_at > 10);
      break;
    }
  }
}

TEST_CASE("who has no memory for a part of an agreement decides nothing without the others", "[agreements]") {
  bool failed = true;
  for (std::int64_t fail_at = 0; failed; ++fail_at) {
    CAPTURE(fail_at);
    messenger_job job(small_shape(3));
    agreeing world(job, job.world());
    std::vector<const test_agreement*> calls;
    for (int rank = 0; rank < 3; ++rank) calls.push_back(&world.call(rank));
    auto& faults = allocation_faults::here();
    faults.fail_at = fail_at;
    faults.count = 0;
    for (int i = 0; i < 1000; ++i) {
      {
        const allocations_that_may_fail harmed;
        job[0].poll();
      }
      job[1].poll();
      job[2].poll();
    }
    failed = faults.count > fail_at;
    faults.fail_at = -1;
    for (const auto& each : job.suspicions) CHECK(each.process == 0);
    lose(job, 0);  // the others have given it up meanwhile, and heard nothing that it says of them
    const bool among = calls[1]->agreed != nullptr && (*calls[1]->agreed)[0] != std::byte{};
    for (const int rank : {1, 2})
      check_present(*calls[static_cast<std::size_t>(rank)], among ? std::vector{0, 1, 2} : std::vector{1, 2});
  }
}

TEST_CASE("a process takes part while any of its ranks may, whoever of them has left before", "[agreements]") {
  messenger_job job(small_shape(2, 2));
  auto members = std::make_shared<fabric::group>();
  members->communicator = 5;
  members->world = {0, 1, 2};
  members->process = {0, 0, 1};
  fabric::participant first(members, 0), second(members, 1), other(members, 2);
  job[1].join(other);
  test_agreement its(other, 0, pattern(3, 2)), own(second, 0, pattern(3, 1));
  job[1].agree(its);
  job.settle();  // it has come before the ranks here have joined
  const bool joins_before = GENERATE(true, false);
  CAPTURE(joins_before);
  job[0].join(first);
  if (joins_before) job[0].join(second);
  job[0].leave(first);
  job.settle();
  if (!joins_before) job[0].join(second);
  job[0].agree(own);
  job.settle();
  check_present(own, {1, 2});
  check_present(its, {1, 2});
  job[0].leave(second);
  job[1].leave(other);
}

TEST_CASE("a process that has said that it takes no part takes none in later agreements", "[agreements]") {
  messenger_job job(small_shape(2, 2));
  auto members = std::make_shared<fabric::group>();
  *members = {5, {0, 1, 2}, {0, 0, 1}, {}, {7, 8, 9}};
  fabric::participant late(members, 1), other(members, 2);
  job[1].join(other);
  job[0].refuse(0, 7);  // and nobody else of its process has come yet
  for (const std::uint32_t number : {0, 1, 2}) {
    CAPTURE(number);
    test_agreement its(other, number, pattern(3, 2));
    job[1].agree(its);
    job.settle();
    check_present(its, {2});
    if (number != 0) continue;
    job[0].join(late);
    test_agreement own(late, 0, pattern(3, 1));
    job[0].agree(own);
    job.settle();
    CHECK(describe(own.failure).code == errc::operation_failed);
  }
  CHECK(job.suspicions.empty());
  job[0].leave(late);
  job[1].leave(other);
}

TEST_CASE("who had no memory to begin an agreement is not taken for absent", "[agreements]") {
  bool failed = true;
  for (std::int64_t fail_at = 0; failed; ++fail_at) {
    CAPTURE(fail_at);
    weft::manual_clock time;
    auto shape = small_shape(2);
    shape.settings.time = &time;
    messenger_job job(shape);
    const auto members = job.world();
    agreeing world(job, members);
    test_agreement own(*members[0], 0, pattern(3, 0));
    auto& faults = allocation_faults::here();
    faults.fail_at = fail_at;
    faults.count = 0;
    bool begun = true;
    try {
      const allocations_that_may_fail harmed;
      job[0].agree(own);
    } catch (const std::bad_alloc&) {
      begun = false;
    }
    failed = faults.count > fail_at;
    faults.fail_at = -1;
    const auto& other = world.call(1);
    job.settle();
    if (!begun) job[0].agree(own);
    for (int look = 0; look < 4; ++look) {  // who waits reminds the other
      job.settle();
      time.advance(std::chrono::seconds(1));
      for (int i = 0; i < 2; ++i) job[i].listen();
    }
    if (!job.suspicions.empty()) continue;
    check_present(own, {0, 1});
    check_present(other, {0, 1});
  }
}

TEST_CASE("who sends of agreements what nobody sends is lost", "[agreements]") {
  const int lie = GENERATE(range(0, 6));
  CAPTURE(lie);
  messenger_job job(small_shape(2));
  auto world = job.communicator(1, {1});
  auto both = job.communicator(2, {0, 1});
  agreeing calls(job, both);
  if (lie == 5) calls.call(1);
  job.settle();
  fabric::header h;
  h.kind = fabric::message_kind::consensus;
  h.job = 4711;
  h.process = 0;
  h.incarnation = 1;
  for (const std::size_t sent : job.counts(0).kinds) h.sequence += static_cast<std::uint32_t>(sent);
  h.communicator = 2;
  h.destination = 1;
  h.length = 20;
  if (lie == 0) h.detail = 10;                      // not the next part
  if (lie == 1) h.length = 3;                       // longer than its message
  if (lie == 2) h.length = std::uint64_t{1} << 60;  // than any
  if (lie == 3) h.source = 7;                       // of a later agreement
  if (lie == 4 || lie == 5) h.source = 0;
  bytes frame(sizeof h + (lie == 4 ? 0 : 20), std::byte{0x7f});
  fabric::write_part(frame.data(), 0, h);
  REQUIRE(job.link(0).inject(1, frame));
  job.settle();
  REQUIRE(job.suspicions.size() == 1);
  CHECK(job.suspicions[0].process == 0);
  CHECK_THAT(job.suspicions[0].why, ContainsSubstring("agreement"));
}
