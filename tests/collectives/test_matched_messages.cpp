// SPDX-License-Identifier: Apache-2.0
// Messages that a probe takes out: received once, by whoever has them, or discarded.
#include <algorithm>
#include <latch>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>
#include <weft/deadline.hpp>

#include "run_ranks.hpp"

using namespace weft_test;
using namespace std::chrono_literals;

namespace {

struct left_suddenly {};

constexpr int pair_forms = 4;

/// Two ranks in one process; in two of a node, with progress threads, too; in two of different nodes.
job any_pair(int form) {
  job what = form == 0 ? small_job(1, 2) : small_job(2);
  if (form == 2) what.settings.progress = weft::progress_mode::thread;
  if (form == 3) what.nodes = {"a", "b"};
  return what;
}

/// Sent whole, and in pieces that are asked for first.
constexpr std::size_t matched_lengths[] = {0, 1, 100, 1000, 50'000};

std::vector<int> numbers_from(std::size_t count, int first) {
  std::vector<int> data(count);
  std::iota(data.begin(), data.end(), first);
  return data;
}

}  // namespace

TEST_CASE("a matched message is received once, by whoever has it, in any order", "[messages][matched]") {
  const int form = GENERATE(range(0, pair_forms));
  run_ranks(any_pair(form), [](weft::communicator& world) {
    for (const std::size_t count : matched_lengths) {
      if (world.rank() == 1) {
        std::vector<std::vector<int>> messages;
        for (int i = 0; i < 4; ++i) messages.push_back(numbers_from(count, 10 * i));
        std::vector<weft::handle> sends;
        for (const auto& each : messages) sends.push_back(world.isend(each, 0, 5));
        weft::wait_all(sends);
        world.barrier();
        continue;
      }
      weft::matched_message first = world.mprobe(1, 5);
      std::optional<weft::matched_message> second;
      while (!second) second = world.improbe(weft::any_source, weft::any_tag);
      expect(first.what().source == 1 && first.what().tag == 5 && first.what().count<int>() == count, "what it is");
      std::vector<int> data(count + 2, -1);
      const auto received = [&](int number) {
        const std::vector<int> right = numbers_from(count, 10 * number);
        const bool whole = std::equal(right.begin(), right.end(), data.begin());
        return whole && data[count] == -1 && data[count + 1] == -1;
      };
      world.recv(data, 1, 5);
      expect(received(2), "a receive to get the third of ", count);
      world.recv(data);
      expect(received(3), "a receive of anything to get the fourth of ", count);
      const weft::status what = second->recv(data);
      expect(received(1) && what.tag == 5 && what.bytes == count * sizeof(int), "the second of ", count);
      weft::matched_message moved(std::move(first));
      expect(moved.valid() && !first.valid(), "one of the two to have it");
      const weft::status late = moved.irecv(data).wait();
      expect(received(0) && late.source == 1 && late.bytes == count * sizeof(int), "the first of ", count);
      expect(!moved.valid() && moved.what().source == 1, "it to be used up");
      expect_text(expect_error(weft::errc::invalid_argument, [&] { moved.recv(data); }), "received already");
      expect_text(expect_error(weft::errc::invalid_argument, [&] { static_cast<void>(second->irecv(data)); }),
                  "received already");
      expect_error(weft::errc::invalid_argument, [&] { first.recv(data); });
      expect(!world.iprobe(), "nothing to be left");
      world.barrier();
    }
  });
}

TEST_CASE("a matched message that is dropped lets its sender go on", "[messages][matched]") {
  const int form = GENERATE(range(0, pair_forms));
  run_ranks(any_pair(form), [](weft::communicator& world) {
    for (const std::size_t count : matched_lengths) {
      const std::vector<int> data = numbers_from(count, 3);
      if (world.rank() == 1) {
        for (int i = 0; i < 40; ++i) world.send(data, 0, i);  // more than its receiver keeps
        world.ssend(data, 0, 40);
        world.send(numbers_from(count, 4), 0, 41);
        world.barrier();
        continue;
      }
      for (int i = 0; i <= 40; ++i) {
        weft::matched_message held = world.mprobe(1, i);
        expect(held.what().tag == i && held.what().bytes == data.size() * sizeof(int), "message ", i, " of ", count);
        if (i % 2 == 0) held = weft::matched_message();  // else it is destroyed
      }
      std::vector<int> into(count);
      world.recv(into, 1);
      expect(into == numbers_from(count, 4), "the message behind those of ", count);
      world.barrier();
    }
  });
}

TEST_CASE("too short a buffer for a matched message is refused as a receive's is", "[messages][matched]") {
  const int form = GENERATE(range(0, pair_forms));
  run_ranks(any_pair(form), [](weft::communicator& world) {
    for (const std::size_t count : {100, 50'000}) {
      if (world.rank() == 1) {
        const std::vector<int> data(count, 1);
        if (count > 100)
          expect_error(weft::errc::truncated, [&] { world.send(data, 0, 1); });
        else
          world.send(data, 0, 1);
        world.send(std::vector<int>(1, 9), 0, 1);
        continue;
      }
      std::vector<int> around(12, -1);
      auto found = world.mprobe(1, 1);
      expect_error(weft::errc::truncated, [&] { found.recv(std::span(around).subspan(1, 10)); });
      expect(!found.valid() && std::ranges::count(around, -1) == 12, "the buffer of one that was too long");
      expect(world.recv(around, 1, 1).bytes == sizeof(int) && around[0] == 9, "the message behind it");
    }
  });
}

TEST_CASE("fibers of a rank that probe for the same messages get one each", "[messages][matched]") {
  const int form = GENERATE(range(0, pair_forms));
  run_with_runtime(any_pair(form), [](weft::runtime& runtime, weft::communicator& world) {
    constexpr int fibers = 5, each = 40;
    if (world.rank() == 1) {
      for (int i = 0; i < fibers * each; ++i)
        world.send(numbers_from(1 + static_cast<std::size_t>(i % 7) * 90, i), 0, 2);
      return;
    }
    std::vector<int> seen(fibers * each);
    std::vector<weft::event> over(fibers);
    for (int fiber = 0; fiber < fibers; ++fiber) {
      runtime.spawn([&, fiber] {
        for (int i = 0; i < each; ++i) {
          auto found = world.mprobe(1, 2);
          runtime.yield();  // the others probe, too
          std::vector<int> data(found.what().count<int>());
          found.recv(data);
          const bool whole = data == numbers_from(data.size(), data[0]);
          if (whole) ++seen[static_cast<std::size_t>(data[0])];
        }
        over[static_cast<std::size_t>(fiber)].set();
      });
    }
    for (weft::event& end : over) runtime.wait(end);
    expect(std::ranges::count(seen, 1) == fibers * each, "each message once");
  });
}

TEST_CASE("a matched message outlives its communicator's object", "[messages][matched]") {
  const int form = GENERATE(range(0, pair_forms));
  run_ranks(any_pair(form), [](weft::communicator& world) {
    for (const std::size_t count : matched_lengths) {
      std::vector<int> into(count);
      std::optional<weft::matched_message> found, dropped;
      std::vector<weft::handle> sends;
      const std::vector<int> data = numbers_from(count, 6);
      {
        weft::communicator inner = world.dup();
        if (inner.rank() == 1) {
          for (int i = 0; i < 2; ++i) sends.push_back(inner.isend(data, 0));
        } else {
          found = inner.mprobe();
          dropped = inner.mprobe();
        }
        world.barrier();
      }
      dropped.reset();
      if (found) found->recv(into);
      expect(world.rank() == 1 || into == data, "a message of ", count);
      weft::wait_all(sends);
    }
  });
}

TEST_CASE("a matched message ends with its communicator, and its sender with it", "[messages][matched]") {
  const int form = GENERATE(range(0, pair_forms));
  const bool receive = GENERATE(true, false);
  run_ranks(any_pair(form), [&](weft::communicator& world) {
    for (const std::size_t count : {1, 50'000}) {
      weft::communicator inner = world.dup();
      std::vector<int> data(count, 5);
      std::optional<weft::matched_message> found;
      std::optional<weft::handle> send;
      if (world.rank() == 1)
        send = inner.isend(data, 0);
      else
        found = inner.mprobe(1);
      world.barrier();
      if (world.rank() == 1) inner.revoke();
      world.barrier();
      if (found && receive) {
        expect_error(weft::errc::revoked, [&] {
          found->recv(data);
          inner.barrier();  // the news may be later than the barrier, and the message
        });
      }
      found.reset();
      if (send && (count > 1 && !receive)) expect_error(weft::errc::revoked, [&] { send->wait(); });
      if (send && send->valid()) {
        try {
          send->wait();
        } catch (const weft::error& e) {
          expect(e.code() == weft::errc::revoked, "revoked, or sent");
        }
      }
    }
  });
}

TEST_CASE("a matched message of a process that is lost meanwhile throws that, or is dropped", "[messages][matched]") {
  const bool receive = GENERATE(true, false);
  for (const bool on_node : {true, false}) {
    auto what = small_job(2);
    if (!on_node) what.nodes = {"a", "b"};
    std::latch found(2);
    const auto failures = run_processes(what, [&](int process, weft::runtime& runtime) {
      if (process == 1) {
        runtime.world().send(numbers_from(10, 0), 0, 1);
        found.arrive_and_wait();
        throw left_suddenly{};
      }
      runtime.run([&](weft::communicator& world) {
        auto held = world.mprobe(1, 1);
        found.arrive_and_wait();
        std::vector<int> into(10, -1);
        expect_error(weft::errc::peer_lost, [&] {
          for (;;) world.barrier();
        });
        if (receive) expect_error(weft::errc::peer_lost, [&] { held.recv(into); });
        expect(into[0] == -1, "nothing to have been received");
      });
    });
    CHECK(text_of(failures[0]) == "no error");
  }
}

TEST_CASE("matched probes end by a deadline, and refuse bad arguments", "[messages][matched]") {
  run_ranks(small_job(2), [](weft::communicator& world) {
    {
      const weft::deadline limit{20ms};
      expect_text(expect_error(weft::errc::timed_out, [&] { static_cast<void>(world.mprobe(1 - world.rank(), 7)); }),
                  "mprobe");
    }
    expect_text(expect_error(weft::errc::invalid_argument, [&] { static_cast<void>(world.mprobe(2)); }), "source 2");
    expect_text(expect_error(weft::errc::invalid_argument, [&] { static_cast<void>(world.improbe(0, -5)); }), "tag -5");
    expect(!world.improbe(), "nothing to be there");
    world.barrier();
    const std::vector<int> mine(200, 1);
    auto sending = world.isend(mine, 1 - world.rank());
    auto found = world.mprobe();
    expect_text(expect_error(weft::errc::invalid_argument,
                             [&] { found.recv(std::span<int>(static_cast<int*>(nullptr), 200)); }),
                "address 0");
    const weft::deadline limit{10s};
    std::vector<int> data(200);
    expect(found.recv(data).source == 1 - world.rank() && data[199] == 1, "it to be there still, and in time");
    sending.wait();
  });
}
