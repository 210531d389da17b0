// SPDX-License-Identifier: Apache-2.0
// Memory that runs out inside the messenger: it fails what needed it, and neither ends the program nor leaves anything
// waiting.
#include <limits>

#include "catch.hpp"
#include "fabric/messenger_job.hpp"

using namespace weft_test;

namespace {

/// A few messages of every kind between three processes, while one of process 0's allocations fails, or a row of them.
/// Whether it came to that.
bool run_short_of_memory(std::int64_t fail_at, std::int64_t failures, std::size_t receives) {
  job_shape shape;
  shape.processes = 3;
  shape.ranks_each = 2;
  shape.settings.eager_limit = 256;
  shape.settings.credit = 2048;
  shape.settings.unexpected_limit = 1000;
  shape.settings.send_buffer_limit = 1000;
  shape.settings.piece = 1024;
  shape.settings.window = 2048;
  shape.network.queue = 4;
  shape.network.receives = receives;
  messenger_job job(shape);
  const auto world = job.world(), other = job.world(2);
  allocation_faults& faults = allocation_faults::here();
  faults = {fail_at, failures, 0, 1};
  const auto post = [&](int rank, weft::fabric::operation& begun) {
    if (job.process_of(rank) != 0) return job.of_rank(rank).post(begun);
    const allocations_that_may_fail harmed;
    job[0].post(begun);
  };
  const auto poll = [&] {
    job.deliver_notes();
    for (const auto& each : std::exchange(job.suspicions, {}))
      for (int process = 0; process < 3; ++process) job[process].lose(each.process, each.why);
    for (int process = 1; process < 3; ++process) job[process].poll();
    const allocations_that_may_fail harmed;
    job[0].poll();
  };
  std::uint64_t tag = 0;
  for (const bool sends_first : {true, false})
    for (const bool collective : {false, true})
      for (const auto& on : {world, other})
        for (const std::size_t size : {20, 200, 5000})
          for (const auto& [from, to] : {std::pair{0, 2}, {2, 0}, {0, 1}, {4, 1}}) {
            ++tag;
            auto& send =
                job.sends.emplace_back(*on[static_cast<std::size_t>(from)], to, tag, pattern(size, tag), collective, 1);
            auto& receive =
                job.receives.emplace_back(*on[static_cast<std::size_t>(to)], from, tag, size, collective, 1);
            if (sends_first) post(from, send);
            if (sends_first) poll();
            post(to, receive);
            if (!sends_first) post(from, send);
            poll();
          }
  const auto all_done = [&] {
    const auto done = [](const auto& each) { return each.done.load(); };
    return std::ranges::all_of(job.sends, done) && std::ranges::all_of(job.receives, done);
  };
  for (int round = 0; round < 20000 && !all_done(); ++round) poll();
  const bool came_to_that = faults.count > fail_at;
  faults = {};
  // Only a message's other half may wait: for one that failed before it met it.
  for (std::size_t i = 0; i < job.sends.size(); ++i) {
    const auto& send = job.sends[i];
    const auto& receive = job.receives[i];
    if (send.done && receive.done) continue;
    INFO("from rank " << send.at->rank << " to " << send.peer << ", " << send.bytes << " bytes, stages "
                      << static_cast<int>(send.now) << " and " << static_cast<int>(receive.now));
    CHECK_FALSE(send.collective);
    CHECK(((send.done && send.failure != nullptr) || (receive.done && receive.failure != nullptr)));
  }
  for (int rank = 0; rank < job.ranks(); ++rank)
    for (const auto& on : {world, other}) job.of_rank(rank).break_here(*on[static_cast<std::size_t>(rank)]);
  for (int round = 0; round < 2000 && !all_done(); ++round) poll();
  for (const auto& each : job.sends) CHECK(each.endings == 1);
  for (const auto& each : job.receives) {
    CHECK(each.endings == 1);
    if (each.failure == nullptr) CHECK(each.message == pattern(each.message.size(), each.tag));
  }
  return came_to_that;
}

}  // namespace

TEST_CASE("whichever allocation fails, everything ends", "[messenger][memory]") {
  const std::size_t receives = GENERATE(SIZE_MAX, std::size_t{4});
  CAPTURE(receives);
  std::int64_t number = 0;
  for (bool more = true; more; ++number) {
    CAPTURE(number);
    more = run_short_of_memory(number, 1, receives);
  }
  CHECK(number > 50);
}

TEST_CASE("whenever memory runs out for a while, everything ends", "[messenger][memory]") {
  bool more = true;
  for (std::int64_t number = 0; more; number += 7) {
    CAPTURE(number);
    more = run_short_of_memory(number, 30, number % 2 == 0 ? SIZE_MAX : 4);
  }
}

TEST_CASE("a message is not kept whose announcement was lost for want of memory", "[messenger][memory]") {
  bool failed = true;
  for (std::int64_t fail_at = 0; failed; ++fail_at) {
    CAPTURE(fail_at);
    auto shape = small_shape(2);
    shape.settings.unexpected_limit = 0;
    messenger_job job(shape);
    const auto world = job.world();
    job[0].post(job.sends.emplace_back(*world[0], 1, 1, pattern(100, 1)));
    job.settle();
    job[0].post(job.sends.emplace_back(*world[0], 1, 2, pattern(200, 2)));  // is announced, and kept
    CHECK(job.sends.back().done);
    allocation_faults& faults = allocation_faults::here();
    faults = {fail_at, 1, 0, 1};
    for (int round = 0; round < 50; ++round) {
      job.deliver_notes();
      job[0].poll();
      const allocations_that_may_fail harmed;
      job[1].poll();
    }
    failed = faults.count > fail_at;
    faults = {};
    for (const auto& each : std::exchange(job.suspicions, {}))
      for (int process = 0; process < 2; ++process) job[process].lose(each.process, each.why);
    for (int rank = 0; rank < 2; ++rank) job[rank].leave(*world[static_cast<std::size_t>(rank)]);
    job.settle();
    CHECK(job[0].quiet());
    CHECK(job[1].quiet());
  }
}

TEST_CASE("empty messages that nobody receives have a bound, and come in their order", "[messenger][memory]") {
  auto shape = small_shape(2);
  shape.settings.unexpected_limit = 1000;
  shape.settings.send_buffer_limit = 10'000;
  messenger_job job(shape);
  const auto world = job.world();
  constexpr int count = 1000;
  const auto size_of = [](int number) { return static_cast<std::size_t>(number % 7 == 0 ? number % 50 : 0); };
  for (int i = 0; i < count; ++i) {
    job[0].post(job.sends.emplace_back(*world[0], 1, 1, pattern(size_of(i), 1)));
    job.settle();
  }
  const auto ended = [&] {
    return std::ranges::count_if(job.sends, [](const auto& each) { return each.done.load(); });
  };
  CHECK(ended() < 100);
  for (int i = 0; i < count; ++i) {
    auto& receive = job.receives.emplace_back(*world[1], 0, 1, 50);
    job[1].post(receive);
    job.settle();
    REQUIRE(receive.done);
    REQUIRE(receive.failure == nullptr);
    REQUIRE(receive.received == size_of(i));
  }
  CHECK(ended() == count);
  for (int process = 0; process < 2; ++process) CHECK(job[process].quiet());
}

TEST_CASE("a granted send waits until there is memory for it", "[messenger][memory]") {
  bool failed = true;
  for (std::int64_t fail_at = 0; failed; ++fail_at) {
    CAPTURE(fail_at);
    messenger_job job(small_shape(2));
    const auto world = job.world();
    test_receive receive(*world[1], 0, 1, 5000, true, 1);
    test_send send(*world[0], 1, 1, pattern(5000, 1), true, 1);
    job[1].post(receive);
    job.settle();  // the grant has come
    allocation_faults& faults = allocation_faults::here();
    faults = {fail_at, 1, 0, 1};
    {
      const allocations_that_may_fail harmed;
      job[0].post(send);
    }
    failed = faults.count > fail_at;
    faults = {};
    job.settle();
    CHECK(send.done);
    CHECK(receive.done);
    CHECK(send.failure == nullptr);
    CHECK(receive.failure == nullptr);
    CHECK(receive.message == pattern(5000, 1));
    for (int process = 0; process < 2; ++process) CHECK(job[process].quiet());
  }
}

TEST_CASE("a receive that there is no memory for fails, and its send too, or waits", "[messenger][memory]") {
  const bool collective = GENERATE(true, false);
  CAPTURE(collective);
  bool failed = true;
  int failures = 0, waits = 0;
  for (std::int64_t fail_at = 0; failed; ++fail_at) {
    CAPTURE(fail_at);
    messenger_job job(small_shape(2));
    const auto world = job.world();
    test_receive receive(*world[1], 0, 1, 5000, collective, 1);
    test_send send(*world[0], 1, 1, pattern(5000, 1), collective, 1);
    if (!collective) job[0].post(send);
    job.settle();
    allocation_faults& faults = allocation_faults::here();
    faults = {fail_at, 1, 0, 1};
    {
      const allocations_that_may_fail harmed;
      job[1].post(receive);
    }
    failed = faults.count > fail_at;
    faults = {};
    job.settle();
    if (collective) job[0].post(send);
    job.settle();
    CHECK(send.done);
    CHECK(receive.done);
    if (receive.failure == nullptr) CHECK(receive.message == pattern(5000, 1));
    if (receive.failure == nullptr || collective) CHECK((send.failure != nullptr) == (receive.failure != nullptr));
    if (!failed) CHECK(receive.failure == nullptr);
    failures += failed && receive.failure != nullptr;
    waits += failed && receive.failure == nullptr;
    for (int process = 0; process < 2; ++process) CHECK(job[process].quiet());
  }
  CHECK(failures > 0);
  CHECK(waits > 0);
}

TEST_CASE("messages that are to be sent wait until there is memory for them, in their order", "[messenger][memory]") {
  const bool announced = GENERATE(false, true);
  CAPTURE(announced);
  bool failed = true;
  for (std::int64_t fail_at = 0; failed; ++fail_at) {
    CAPTURE(fail_at);
    auto shape = small_shape(2);
    shape.network.inject = 64;
    if (announced) shape.settings.unexpected_limit = 0;
    messenger_job job(shape);
    const auto world = job.world();
    job[0].post(job.sends.emplace_back(*world[0], 1, 9, pattern(100, 9)));
    job.settle();  // with this one announcements are asked for
    job.link(0).refusing = true;
    for (const std::uint64_t size : {20, 200, 30})
      job[0].post(job.sends.emplace_back(*world[0], 1, 1, pattern(size, size)));
    job.link(0).refusing = false;
    allocation_faults& faults = allocation_faults::here();
    faults = {fail_at, 2, 0, 1};
    {
      const allocations_that_may_fail harmed;
      job[0].poll();
    }
    failed = faults.count > fail_at;
    faults = {};
    for (const std::uint64_t size : {20, 200, 30}) {
      auto& receive = job.receives.emplace_back(*world[1], 0, 1, 200);
      job[1].post(receive);
      job.settle();
      REQUIRE(receive.done);
      REQUIRE(receive.failure == nullptr);
      CHECK(receive.received == size);
    }
  }
}

TEST_CASE("no message is received in place of one that was lost for want of memory", "[messenger][memory]") {
  messenger_job job(small_shape(2));
  const auto world = job.world();
  const auto send = [&](std::uint64_t tag, std::size_t bytes) {
    job[0].post(job.sends.emplace_back(*world[0], 1, tag, pattern(bytes, bytes)));
  };
  const auto receive = [&](std::uint64_t tag) -> test_receive& {
    auto& posted = job.receives.emplace_back(*world[1], 0, tag, 200);
    job[1].post(posted);
    return posted;
  };
  send(1, 20);
  job.settle();
  CHECK(receive(1).received == 20);  // where one of so few bytes is kept there is room for the next one
  send(2, 200);
  send(2, 20);
  allocation_faults& faults = allocation_faults::here();
  faults = {0, std::numeric_limits<std::int64_t>::max(), 0, 1};
  {
    const allocations_that_may_fail harmed;
    job[1].poll();  // nor is there memory to say that the communicator has failed
  }
  CHECK(faults.count > 0);
  faults = {};
  const test_receive& next = receive(2);
  job.settle();
  REQUIRE(next.failure != nullptr);
  CHECK(describe(next.failure).code == errc::operation_failed);
}

TEST_CASE("a receive whose connection was cut ends without memory, too", "[messenger][memory]") {
  bool failed = true;
  for (std::int64_t fail_at = 0; failed; ++fail_at) {
    CAPTURE(fail_at);
    messenger_job job(small_shape(2));
    const auto world = job.world();
    job.link(0).holding = true;
    auto& receive = job.receives.emplace_back(*world[0], 1, 1, 5000, true, 1);
    job[0].post(receive);
    job.settle();
    job.kill(1);
    job[0].lose(1, "it was silent");
    allocation_faults& faults = allocation_faults::here();
    faults = {fail_at, 1, 0, 1};
    for (int round = 0; round < 10; ++round) {
      const allocations_that_may_fail harmed;
      job[0].poll();
    }
    failed = faults.count > fail_at;
    faults = {};
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);  // orphans are looked for now and then
    while (!receive.done && std::chrono::steady_clock::now() < end) job[0].poll();
    CHECK(receive.done);
  }
}

TEST_CASE("a rank that leaves without memory ends what it has posted, too", "[messenger][memory]") {
  messenger_job job({.processes = 2});
  const auto world = job.world();
  auto& receive = job.receives.emplace_back(*world[0], 1, 5, 100, false, 1);
  job[0].post(receive);
  allocation_faults::here() = {0, std::numeric_limits<std::int64_t>::max(), 0, 1};
  {
    const allocations_that_may_fail harmed;
    job[0].break_here(*world[0]);
  }
  allocation_faults::here() = {};
  CHECK(receive.done);
  CHECK(receive.failure != nullptr);
}

TEST_CASE("what has been reserved for a plan is posted, sent and received without an allocation",
          "[messenger][memory]") {
  job_shape shape = small_shape(2);
  shape.settings.prepost = GENERATE(true, false);
  shape.network.inject = GENERATE(std::size_t{64}, std::size_t{4096});
  const bool refuses = GENERATE(false, true);  // at first, whatever is posted
  CAPTURE(shape.settings.prepost, shape.network.inject, refuses);
  messenger_job job(shape);
  const auto world = job.world();
  std::vector<weft::fabric::planned_message> each_run;
  for (const std::size_t size : {0, 20, 200, 5000})
    for (int i = 0; i < 40; ++i)
      for (const bool is_send : {true, false}) each_run.push_back({is_send, 1, size});
  job[0].reserve(*world[0], each_run);
  const auto run = [&](std::uint64_t sequence) {
    const std::size_t first = job.sends.size();
    const auto poll = [&] {
      job[1].poll();
      const allocations_that_may_fail harmed;
      job[0].poll();
    };
    for (const int rank : {sequence % 2 == 0 ? 1 : 0, sequence % 2 == 0 ? 0 : 1}) {
      const auto begin = [&](weft::fabric::operation& begun) {
        if (rank == 1) return job[1].post(begun);
        const allocations_that_may_fail harmed;
        job[0].post(begun);
      };
      job.link(0).refusing = rank == 0 && refuses;
      job.link(0).most_receives = rank == 0 && refuses ? 1 : 0;
      for (std::size_t i = 0; i < each_run.size(); ++i) {
        const std::uint64_t tag = sequence << 32 | i / 2;
        const std::size_t size = each_run[i].bytes;
        if (each_run[i].is_send)
          begin(job.sends.emplace_back(*world[static_cast<std::size_t>(rank)], 1 - rank, tag, pattern(size, tag), true,
                                       sequence));
        else
          begin(job.receives.emplace_back(*world[static_cast<std::size_t>(rank)], 1 - rank, tag, size, true, sequence));
      }
      job.link(0).refusing = false;
      job.link(0).most_receives = 0;
      for (int round = 0; round < 50; ++round) poll();  // what the other one begins may come early
    }
    const auto done = [](const auto& each) { return each.done.load(); };
    const auto all_done = [&] {
      return std::ranges::all_of(job.sends, done) && std::ranges::all_of(job.receives, done);
    };
    for (int round = 0; round < 20000 && !all_done(); ++round) poll();
    for (std::size_t i = first; i < job.sends.size(); ++i) {
      REQUIRE(done(job.sends[i]));
      REQUIRE(done(job.receives[i]));
      CHECK(job.sends[i].failure == nullptr);
      REQUIRE(job.receives[i].failure == nullptr);
      CHECK(job.receives[i].message == pattern(job.receives[i].bytes, job.receives[i].tag));
    }
  };
  allocation_faults::here() = {0, std::numeric_limits<std::int64_t>::max(), 0, 1};
  for (std::uint64_t sequence = 1; sequence < 5; ++sequence) run(sequence);
  CHECK(allocation_faults::here().count == 0);
  allocation_faults::here() = {};
  job[0].release(*world[0], each_run);
}
