// SPDX-License-Identifier: Apache-2.0
// One-sided calls: by loads and stores, and by messages, which are the same to who calls.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>
#include <weft/deadline.hpp>
#include <weft/window.hpp>

#include "run_ranks.hpp"

using namespace weft_test;
using namespace std::chrono_literals;

namespace {

struct left_suddenly {};

/// Ranks of one process; processes of a node; of four nodes, by threads; of two nodes with two ranks each; of a node
/// without its memory; of two nodes with two processes each. The last not under ThreadSanitizer: who has read before
/// another process may write is ordered by the memory of a node, which is not at the same addresses there.
#ifdef __SANITIZE_THREAD__
constexpr int forms = 5;
#else
constexpr int forms = 6;
#endif
job windows_job(int form) {
  job what = form == 0 ? small_job(1, 4) : form == 3 ? small_job(2, 2) : small_job(4);
  if (form == 0) what.settings.workers = 2;
  if (form == 2) {
    what.nodes = {"a", "b", "c", "d"};
    what.settings.progress = weft::progress_mode::thread;
  }
  if (form == 3) what.nodes = {"a", "b"};
  if (form == 4) what.settings.node = false;
  if (form == 5) what.nodes = {"a", "a", "b", "b"};
  return what;
}

/// What rank `by` puts as element i.
int value(int by, std::size_t i) { return by * 100'000 + static_cast<int>(i); }

}  // namespace

TEST_CASE("what is put into all ranks is there behind a fence, and is got", "[windows]") {
  const int form = GENERATE(range(0, forms));
  run_ranks(windows_job(form), [&](weft::communicator& world) {
    const int me = world.rank(), size = world.size();
    for (const std::size_t count : {0, 1, 3, 100, 5000}) {
      weft::window<int> all(world, count * static_cast<std::size_t>(size));
      expect(all.local().size() == count * static_cast<std::size_t>(size), "as many elements");
      expect(std::ranges::all_of(all.local(), [](int each) { return each == 0; }), "zeros");
      world.barrier();
      expect(all.shares(me), "a rank to share its own memory");
      if (form == 0 || form == 1) expect(all.shares((me + 1) % size), "memory of the node to be shared");
      if (form == 4) expect(!all.shares((me + 1) % size), "nothing to be shared");
      std::vector<int> mine(count);
      for (std::size_t i = 0; i < count; ++i) mine[i] = value(me, i);
      for (int to = 0; to < size; ++to) all.put(to, count * static_cast<std::size_t>(me), mine);
      all.fence();
      for (int from = 0; from < size; ++from)
        for (std::size_t i = 0; i < count; ++i)
          expect(all.local()[count * static_cast<std::size_t>(from) + i] == value(from, i), "element ", i, " of rank ",
                 from, " of ", count);
      std::vector<std::vector<int>> got(static_cast<std::size_t>(size), std::vector<int>(count));
      for (int from = 0; from < size; ++from)
        all.get(from, count * static_cast<std::size_t>((from + 1) % size), got[static_cast<std::size_t>(from)]);
      all.flush_all();
      for (int from = 0; from < size; ++from)
        for (std::size_t i = 0; i < count; ++i)
          expect(got[static_cast<std::size_t>(from)][i] == value((from + 1) % size, i), "element ", i, " got of ",
                 from);
    }
  });
}

TEST_CASE("many short and long puts and gets to one rank are all there once it is flushed", "[windows]") {
  const int form = GENERATE(range(0, forms));
  run_ranks(windows_job(form), [&](weft::communicator& world) {
    constexpr std::size_t part = 20'000;
    const auto me = static_cast<std::size_t>(world.rank());
    weft::window<std::uint64_t> all(world, world.rank() == 1 ? 4 * part : 0);
    std::mt19937_64 random(seed_of_this_run() + me);
    std::vector<std::uint64_t> expected(part), got(part);
    for (auto& each : expected) each = random();
    for (std::size_t i = 0; i < part;) {
      const std::size_t some = std::min<std::size_t>(part - i, random() % 8 == 0 ? random() % 3000 : random() % 60);
      all.put(1, me * part + i, std::span(expected).subspan(i, some));
      i += some;
    }
    all.flush(1);
    for (std::size_t i = 0; i < part;) {
      const std::size_t some = std::min<std::size_t>(part - i, random() % 8 == 0 ? random() % 3000 : random() % 60);
      all.get(1, me * part + i, std::span(got).subspan(i, some));
      i += some;
    }
    all.flush(1);
    expect(got == expected, "all to be got as it was put (seed ", seed_of_this_run(), ")");
  });
}

TEST_CASE("atomic operations of all ranks at one element lose nothing", "[windows]") {
  const int form = GENERATE(range(0, forms));
  run_ranks(windows_job(form), [&](weft::communicator& world) {
    constexpr int rounds = 200;
    const int me = world.rank(), size = world.size();
    weft::window<std::int64_t> counts(world, 300);
    weft::window<double> sums(world, 2);
    weft::window<std::uint8_t> bytes(world, 4);
    std::vector<std::int64_t> ones(300, 1), tickets;
    for (int i = 0; i < rounds; ++i) {
      counts.accumulate(0, 1, std::span(ones).first(1), weft::sum);
      sums.accumulate(i % size, 0, std::vector<double>{0.5, 1.0 * me}, weft::sum);
      bytes.accumulate(0, static_cast<std::size_t>(i % 4), std::vector<std::uint8_t>{3}, weft::sum);
      if (i % 8 == 0) tickets.push_back(counts.fetch_and_op(0, 0, std::int64_t{1}, weft::sum));
      if (i % 50 == 0) counts.accumulate(1, 0, ones, weft::sum);
    }
    expect(std::ranges::is_sorted(tickets, std::less_equal<>()) || tickets.size() < 2, "ascending tickets");
    counts.fence();
    sums.fence();
    bytes.fence();
    std::vector<std::int64_t> all(tickets.size() * static_cast<std::size_t>(size));
    world.allgather(tickets, all);
    std::ranges::sort(all);
    for (std::size_t i = 0; i < all.size(); ++i) expect(all[i] == static_cast<std::int64_t>(i), "ticket ", i);
    if (me == 0) {
      expect(counts.local()[1] == rounds * size, "all ones, not ", counts.local()[1]);
      expect(bytes.local()[2] == static_cast<std::uint8_t>(3 * rounds / 4 * size), "bytes modulo 256");
    }
    if (me == 1)
      expect(std::ranges::all_of(counts.local(), [&](auto each) { return each == rounds / 50 * size; }), "a long one");
    const int ranks_below = size * (size - 1) / 2;
    expect(sums.local()[0] == 0.5 * rounds && sums.local()[1] == rounds / size * ranks_below, "sums of doubles");
  });
}

TEST_CASE("every operator does to an element what the kernels do", "[windows]") {
  const int form = GENERATE(1, 4);
  run_ranks(windows_job(form), [&](weft::communicator& world) {
    weft::window<std::int16_t> numbers(world, 1);
    weft::window<float> floats(world, 1);
    weft::window<bool> flags(world, 1);
    if (world.rank() == 0) {
      const auto step = [&](std::int16_t operand, auto by, std::int16_t before) {
        const auto was = numbers.fetch_and_op(1, 0, operand, by);
        expect(was == before, "it to have been ", before, ", not ", was);
      };
      step(300, weft::replace, 0);
      step(200, weft::product, 300);
      step(-7, weft::max, static_cast<std::int16_t>(60'000));
      step(5, weft::min, -7);
      step(12, weft::replace, -7);
      step(10, weft::bit_and, 12);
      step(3, weft::bit_or, 8);
      step(6, weft::bit_xor, 11);
      step(0, weft::logical_or, 13);
      step(5, weft::logical_and, 1);
      step(5, weft::logical_xor, 1);
      step(1, weft::sum, 0);
      expect(numbers.compare_and_swap(1, 0, 2, 9) == 1, "another one to be left alone");
      expect(numbers.compare_and_swap(1, 0, 1, 9) == 1, "the expected one to be replaced");
      expect(numbers.compare_and_swap(1, 0, 0, 0) == 9, "nine");
      floats.fetch_and_op(1, 0, -0.0f, weft::replace);
      expect(std::signbit(floats.fetch_and_op(1, 0, 0.0f, weft::min)), "-0 to be there");
      expect(std::signbit(floats.fetch_and_op(1, 0, 0.0f, weft::max)), "-0 to be less");
      floats.fetch_and_op(1, 0, std::numeric_limits<float>::quiet_NaN(), weft::max);
      expect(std::isnan(floats.fetch_and_op(1, 0, 1.0f, weft::max)), "NaN to win");
      expect(!flags.fetch_and_op(1, 0, true, weft::logical_or) && flags.compare_and_swap(1, 0, true, false), "a flag");
    }
    numbers.fence();
  });
}

TEST_CASE("a rank that has been notified of a put has it, and those before it", "[windows]") {
  const int form = GENERATE(range(0, forms));
  run_ranks(windows_job(form), [&](weft::communicator& world) {
    const int me = world.rank(), size = world.size();
    const int left = (me + size - 1) % size, right = (me + 1) % size;
    constexpr std::size_t length = 3000;
    weft::window<int> all(world, 2 * length + 1 + static_cast<std::size_t>(size), 3);
    std::vector<int> data(length);
    for (int round = 1; round <= 30; ++round) {
      const std::size_t at = round % 2 == 0 ? length : 0;
      std::ranges::fill(data, value(me, static_cast<std::size_t>(round)));
      all.put(right, at, data);
      all.put_notify(right, 2 * length, std::span(data).first(1), 2);
      all.wait_notified(2);
      expect(std::ranges::all_of(all.local().subspan(at, length),
                                 [&](int each) { return each == value(left, static_cast<std::size_t>(round)); }),
             "all of round ", round);
      all.flush(right);
      all.put_notify(left, 0, std::span<const int>(), 0);  // the left one may write again
      all.wait_notified(0);
    }
    for (int to = 0; to < size; ++to)
      for (int i = 0; i < 5; ++i)
        all.put_notify(to, 2 * length + 1 + static_cast<std::size_t>(me), std::span(data).first(1), 1);
    all.wait_notified(1, static_cast<std::uint32_t>(4 * size));
    all.wait_notified(1, static_cast<std::uint32_t>(size));
    all.wait_notified(1, 0);
  });
}

TEST_CASE("who sleeps until a put is notified is woken", "[windows]") {
  const int form = GENERATE(range(0, forms));
  run_with_runtime(windows_job(form), [&](weft::runtime& runtime, weft::communicator& world) {
    weft::window<int> all(world, 1);
    for (int i = 0; i < 2; ++i) {
      if (world.rank() == 0) {
        runtime.sleep(150ms);
        for (int to = 0; to < world.size(); ++to) all.put_notify(to, 0, std::vector<int>{i + 1}, 0);
      }
      all.wait_notified(0);
      expect(all.local()[0] == i + 1, "the number");
      all.fence();
    }
  });
}

TEST_CASE("locks exclude each other", "[windows]") {
  const int form = GENERATE(range(0, forms));
  run_ranks(windows_job(form), [&](weft::communicator& world) {
    constexpr int rounds = 25;
    weft::window<int> all(world, 2);
    for (int i = 0; i < rounds; ++i) {
      const int at = i % 2;
      int read[1] = {};
      all.lock(at);
      all.get(at, 0, read);
      all.flush(at);
      ++read[0];
      all.put(at, 0, read);
      all.unlock(at);
      all.lock(at, weft::lock_mode::shared);
      int again[1] = {};
      all.get(at, 0, again);
      all.flush(at);
      expect(again[0] > 0 && again[0] <= rounds * world.size(), "a count");
      all.unlock(at, weft::lock_mode::shared);
    }
    all.lock_all();
    all.accumulate(0, 1, std::vector<int>{1}, weft::sum);
    all.unlock_all();
    all.fence();
    if (world.rank() < 2) {
      const int mine = (rounds + 1 - world.rank()) / 2 * world.size();
      expect(all.local()[0] == mine, mine, " times, not ", all.local()[0]);
    }
    if (world.rank() == 0) expect(all.local()[1] == world.size(), "one each");
  });
}

TEST_CASE("windows of any elements and counts, that move", "[windows]") {
  const int form = GENERATE(0, 1, 4);
  run_ranks(windows_job(form), [&](weft::communicator& world) {
    struct point {
      double x = 1, y = 2;
      char name[3] = "p";
    };
    const auto me = static_cast<std::size_t>(world.rank());
    weft::window<point> first(world, me, 0);
    expect(first.count(3) == 3 && first.count(0) == 0 && first.slots() == 0, "counts");
    for (const point& each : first.local()) expect(each.y == 2 && each.name[0] == 'p', "initial values");
    weft::window<point> points(std::move(first));
    points.fence();
    const point other{3, 4, "q"};
    if (me == 1) points.put(3, 1, std::span(&other, 1));
    points.fence();
    if (me == 3) expect(points.local()[1].x == 3 && points.local()[1].name[0] == 'q', "the point");
    weft::window<point> another(world, 1, 0);
    another = std::move(points);
    expect(another.count(2) == 2, "the one that was moved");
  });
}

TEST_CASE("places and ranks that are not there are refused, and nothing is touched", "[windows]") {
  const int form = GENERATE(1, 4);
  run_ranks(windows_job(form), [&](weft::communicator& world) {
    weft::window<int> all(world, 10 + static_cast<std::size_t>(world.rank()), 2);
    std::vector<int> data(5, 7);
    const auto refused = [&](auto&& call, weft::errc code = weft::errc::invalid_count) {
      return expect_error(code, call);
    };
    const auto text = refused([&] { all.put(2, 8, data); });
    for (const char* part : {"put", "5 elements", "offset 8", "rank 2", "which has 12"}) expect_text(text, part);
    refused([&] { all.put(2, std::numeric_limits<std::size_t>::max(), data); });
    expect_text(refused([&] { all.get(1, 12, data); }), "which has 11");
    expect_text(refused([&] { all.accumulate(0, 10, data, weft::sum); }), "accumulate");
    expect_text(refused([&] { all.fetch_and_op(0, 10, 1, weft::sum); }), "which has 10");
    expect_text(refused([&] { all.compare_and_swap(0, 11, 1, 1); }), "which has 10");
    expect_text(refused([&] { all.put(4, 0, data); }, weft::errc::invalid_rank), "ranks 0 to 3");
    expect_text(refused([&] { all.flush(-1); }, weft::errc::invalid_rank), "no rank -1");
    expect_text(refused([&] { all.lock(9); }, weft::errc::invalid_rank), "no rank 9");
    expect_text(refused([&] { all.put_notify(0, 0, data, 2); }, weft::errc::invalid_argument),
                "no slot 2; the window has 2");
    expect_text(refused([&] { all.wait_notified(5); }, weft::errc::invalid_argument), "no slot 5");
    expect_text(refused([&] { all.wait_notified(0, 3'000'000'000u); }), "at most");
    all.fence();
    expect(std::ranges::all_of(all.local(), [](int each) { return each == 0; }), "zeros");
  });
}

TEST_CASE("ranks that make different windows are all told", "[windows]") {
  const int form = GENERATE(0, 1, 4);
  run_ranks(windows_job(form), [&](weft::communicator& world) {
    const auto slots = static_cast<std::size_t>(world.rank() == 2 ? 5 : 4);
    const auto text = expect_error(weft::errc::mismatched_call, [&] { weft::window<int> all(world, 1, slots); });
    expect_text(text, "rank 2 has elements of 4 bytes and 5 slots, rank 0 4 and 4");
    const auto most = std::numeric_limits<std::size_t>::max() / 16;
    const auto short_of_memory = expect_error(weft::errc::operation_failed,
                                              [&] { weft::window<double> all(world, world.rank() == 1 ? most : 1); });
    expect_text(short_of_memory, "rank 1 has no memory for its");
    world.barrier();
  });
}

TEST_CASE("fibers and threads of a rank use its window at a time", "[windows]") {
  const int form = GENERATE(range(0, forms));
  run_with_runtime(windows_job(form), [&](weft::runtime& runtime, weft::communicator& world) {
    constexpr std::size_t fibers = 6, threads = 2, all_users = fibers + threads, part = 400;
    weft::window<int> all(world, all_users * part + 1, all_users);
    const int next = (world.rank() + 1) % world.size();
    std::vector<weft::event> ended(all_users);
    std::atomic<int> wrong{0};
    const auto use = [&](std::size_t user) {
      std::vector<int> data(part), got(part);
      for (int round = 0; round < 5; ++round) {
        std::ranges::fill(data, value(round, user));
        all.put(next, user * part, data);
        all.flush(next);
        all.get(next, user * part, got);
        all.flush(next);
        if (got != data) wrong.fetch_add(1);
        all.fetch_and_op(next, all_users * part, 1, weft::sum);
        all.put_notify(next, user * part, std::span(data).first(1), user);
        all.wait_notified(user);
      }
      ended[user].set();
    };
    for (std::size_t f = 0; f < fibers; ++f) runtime.spawn([&, f] { use(f); });
    std::vector<std::thread> others;
    for (std::size_t t = fibers; t < all_users; ++t) others.emplace_back([&, t] { use(t); });
    for (weft::event& each : ended) runtime.wait(each);
    for (std::thread& each : others) each.join();
    all.fence();
    expect(wrong.load() == 0, "what each has put to be got");
    expect(all.local()[all_users * part] == static_cast<int>(5 * all_users), "each to have counted");
  });
}

TEST_CASE("calls of windows end where their deadline passes, and can be made again", "[windows]") {
  const int form = GENERATE(range(0, forms));
  run_ranks(windows_job(form), [&](weft::communicator& world) {
    weft::window<int> all(world, 1);
    const int next = (world.rank() + 1) % world.size();
    const auto is_late = [&](auto&& call) {
      try {
        const weft::deadline limit{20ms};
        call();
      } catch (const weft::timed_out&) {
        return true;
      }
      return false;
    };
    expect(is_late([&] { all.wait_notified(3); }), "nobody to have put");
    all.lock(world.rank());
    world.barrier();
    expect(is_late([&] { all.lock(next); }), "the lock to be held");
    expect(is_late([&] { all.lock(next, weft::lock_mode::shared); }), "the lock to be held alone");
    world.barrier();
    all.unlock(world.rank());
    all.lock(next);
    all.put_notify(next, 0, std::vector<int>{5}, 3);
    all.unlock(next);
    all.wait_notified(3);
    expect(all.local()[0] == 5, "five");
  });
}

TEST_CASE("puts and gets end in time where too much is on its way to a rank that does not poll", "[windows]") {
  const std::size_t count = GENERATE(1, 1000);  // within records, and by themselves
  const bool gets = GENERATE(false, true);
  job what = windows_job(4);
  what.settings.send_buffer_limit = 64 << 10;
  std::atomic<bool> late{false};
  run_ranks(what, [&](weft::communicator& world) {
    weft::window<int> all(world, count);
    std::vector<int> data(count, 7);
    world.barrier();
    if (world.rank() == 0) try {
        const weft::deadline limit{50ms};
        for (;;) gets ? all.get(1, 0, data) : all.put(1, 0, data);
      } catch (const weft::timed_out& error) {
        late.store(true);
        late.notify_one();
        expect(error.missing().size() == 1 && error.missing()[0] == 1, "rank 1 to be named");
      }
    if (world.rank() == 1) late.wait(false);
    all.fence();
    if (world.rank() == 0 && gets) expect(data == std::vector<int>(count), "what was begun to be got");
    if (world.rank() == 1 && !gets) expect(all.local()[count - 1] == 7, "what was begun to be put");
  });
}

TEST_CASE("a rank puts a little into more ranks than messages may be on their way", "[windows]") {
  job what = small_job(2, 70);
  what.settings.node = false;
  run_ranks(what, [](weft::communicator& world) {
    const auto me = static_cast<std::size_t>(world.rank());
    weft::window<int> all(world, static_cast<std::size_t>(world.size()), 0);
    for (int to = 0; to < world.size(); ++to) all.put(to, me, std::vector<int>{world.rank() + 1});
    all.fence();
    for (std::size_t i = 0; i < all.local().size(); ++i) expect(all.local()[i] == static_cast<int>(i) + 1, "rank ", i);
  });
}

TEST_CASE("a lock that comes behind its deadline is given back", "[windows]") {
  const auto mode = GENERATE(weft::lock_mode::shared, weft::lock_mode::exclusive);
  const bool of_all = GENERATE(false, true);
  std::atomic<bool> away{false}, late{false};
  run_ranks(windows_job(4), [&](weft::communicator& world) {
    weft::window<int> all(world, 1);
    world.barrier();
    if (world.rank() == 0) {
      away.wait(false);
      bool was_late = false;
      try {
        const weft::deadline limit{30ms};
        if (of_all)
          all.lock_all();
        else
          all.lock(1, mode);
      } catch (const weft::timed_out&) {
        was_late = true;
      }
      late.store(true);
      late.notify_one();
      expect(was_late, "rank 1 not to poll");
    }
    if (world.rank() == 1) {
      away.store(true);
      away.notify_one();
      late.wait(false);
    }
    for (int at = 0; at < world.size(); ++at) {
      all.lock(at);
      all.unlock(at);
    }
    all.fence();
  });
}

TEST_CASE("a window ends for all ranks, whatever deadline there is where it does", "[windows]") {
  const int form = GENERATE(range(0, forms));
  std::atomic<bool> came{false};
  run_with_runtime(windows_job(form), [&](weft::runtime& runtime, weft::communicator& world) {
    std::optional<weft::window<int>> all(std::in_place, world, 1);
    world.barrier();
    if (world.rank() == 1) {
      runtime.sleep(100ms);
      came.store(true);
    }
    const weft::deadline limit{20ms};
    all.reset();
    expect(came.load(), "a rank to wait for one that comes late");
  });
}

TEST_CASE("a rank that leaves a window by an exception ends the others' calls", "[windows]") {
  const int form = GENERATE(range(0, forms));
  const int way = GENERATE(0, 1, 2);
  const auto outcomes = outcomes_of(windows_job(form), [&](weft::communicator& world) {
    const auto size = static_cast<std::size_t>(world.size()), me = static_cast<std::size_t>(world.rank());
    std::vector<int> data(50'000, 1);
    weft::window<int> all(world, size * data.size());
    if (world.rank() == 1) all.lock(1);
    if (world.rank() == 1) {
      world.barrier();
      throw left_suddenly();
    }
    try {
      world.barrier();
      for (;;) {
        if (way == 0) all.wait_notified(0);
        if (way == 1) all.lock(1);
        if (way == 2) {
          all.put(1, me * data.size(), data);
          all.flush(1);
          all.get(1, me * data.size(), data);
          all.flush(1);
          all.fence();
        }
      }
    } catch (const weft::error& e) {
      expect(e.code() == weft::errc::revoked || e.code() == weft::errc::peer_lost ||
                 e.code() == weft::errc::operation_failed,
             "it to be revoked, not ", e.what());
    }
  });
  for (std::size_t r = 0; r < outcomes.size(); ++r)
    if (r != 1) CHECK(text_of(outcomes[r]) == "no error");
}
