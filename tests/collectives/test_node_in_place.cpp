// SPDX-License-Identifier: Apache-2.0
// Collectives of buffers that the processes of a node use in place. Each process is a thread here, with a mapping of
// its own.
#include <algorithm>
#include <cstdint>
#include <future>
#include <latch>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "collective_cases.hpp"
#include "run_ranks.hpp"
#include "sanitized.hpp"
#include "thorough.hpp"

using namespace weft_test;

namespace {

using weft::schedules::collective;

enum class where { all_shared, mixed };

/// Calls of lengths about those from which on another way is taken, whose buffers all lie in shared memory, or on each
/// rank in some other.
void call_in_place(weft::runtime& runtime, weft::communicator& world, where lies, int calls, std::uint64_t seed) {
  std::mt19937_64 random(seed), own(seed + 17 * static_cast<std::uint64_t>(world.rank()) + 1);
  const auto below = [&](std::size_t end) { return static_cast<std::size_t>(random() % end); };
  for (int i = 0; i < calls; ++i) {
    collective_case c;
    c.what = below(3) == 0 ? collective::allreduce : static_cast<collective>(below(weft::schedules::collectives));
    const std::size_t longest[]{600, 1100, 3000, 9000, 30'000};
    c.count = below(longest[below(5)]);
    const bool blocks = weft::schedules::has_blocks(c.what);
    if (blocks && below(2) == 0) c.count /= static_cast<std::size_t>(world.size());
    c.uneven = blocks && below(2) == 0;
    draw_terms(c, world.size(), random);
    // In a mixed call most ranks' buffers are shared, so that all are now and then.
    const auto place = [&] { return lies == where::all_shared || own() % 4 != 0 ? &runtime : nullptr; };
    c.in_node = place();
    c.out_node = place();
    check_case(world, c);
  }
}

}  // namespace

TEST_CASE("of buffers that are used in place the serial result comes", "[in place]") {
  const int calls = thorough() ? 300 : slowed ? 60 : 120;
  const where lies = GENERATE(where::all_shared, where::mixed);
  for (const int processes : {2, 3, 8})
    run_with_runtime(small_job(processes), [&](weft::runtime& runtime, weft::communicator& world) {
      expect(runtime.allocate<int>(1).shared(), "memory that the node shares");
      call_in_place(runtime, world, lies, calls, seed_of_this_run() + static_cast<std::uint64_t>(processes));
    });
}

TEST_CASE("where processes host several ranks the serial result comes as well", "[in place]") {
  for (const int workers : {1, 2}) {
    auto what = small_job(3, 3);
    what.settings.workers = workers;
    run_with_runtime(what, [&](weft::runtime& runtime, weft::communicator& world) {
      call_in_place(runtime, world, where::all_shared, 40, seed_of_this_run() + 3);
      call_in_place(runtime, world, where::mixed, 40, seed_of_this_run() + 4);
    });
  }
}

TEST_CASE("every rank gets the same bits, wherever the buffers of any rank lie", "[in place]") {
  std::mutex guard;
  std::vector<std::vector<float>> found;
  run_with_runtime(small_job(18), [&](weft::runtime& runtime, weft::communicator& world) {
    std::mt19937_64 random(seed_of_this_run() + static_cast<std::uint64_t>(world.rank()));
    std::uniform_real_distribution<float> any(-1, 1);
    auto in = runtime.allocate<float>(20'000), out = runtime.allocate<float>(20'000);
    std::vector<float> own(20'000);
    for (float& x : in) x = any(random);
    for (const std::size_t count : {700u, 5000u, 20'000u}) {
      const auto some = in.span().first(count), result = out.span().first(count);
      world.allreduce(some, result, weft::sum);
      const auto elsewhere = std::span(own).first(count);
      world.allreduce(some, elsewhere, weft::sum);
      expect(std::ranges::equal(result, elsewhere), "the bits of a call by another way");
      world.allreduce(some, world.rank() % 2 == 0 ? elsewhere : result, weft::sum);
      expect(std::ranges::equal(result, elsewhere), "the bits of a mixed call");
    }
    const std::lock_guard lock(guard);
    found.emplace_back(out.begin(), out.end());
  });
  for (const auto& each : found) CHECK(each == found.front());
}

TEST_CASE("parts of one array are input and output, at any element", "[in place]") {
  run_with_runtime(small_job(3), [](weft::runtime& runtime, weft::communicator& world) {
    constexpr std::size_t count = 5000;
    auto both = runtime.allocate<std::int32_t>(2 * count + 7);
    for (const std::size_t shift : {0u, 1u, 3u}) {
      const auto in = both.span().subspan(shift, count), out = both.span().subspan(count + 2 * shift, count);
      std::ranges::fill(both, -5);
      for (std::size_t i = 0; i < count; ++i) in[i] = static_cast<std::int32_t>(i) * (world.rank() + 1);
      world.allreduce(in, out, weft::sum);
      for (std::size_t i = 0; i < count; ++i)
        expect(out[i] == static_cast<std::int32_t>(6 * i), "element ", i, " at shift ", shift);
      world.allreduce(out, out, weft::max);
      expect(out[count - 1] == static_cast<std::int32_t>(6 * (count - 1)), "the same, in place");
      expect(shift == 0 || (both[shift - 1] == -5 && both[count + 2 * shift - 1] == -5), "nothing beside them written");
      expect(both[2 * count + 2 * shift] == -5, "nothing behind them written");
    }
  });
}

TEST_CASE("arrays of a runtime that shares nothing are used as any memory", "[in place]") {
  auto off = small_job(2);
  SECTION("switched off") { off.settings.node = false; }
  SECTION("one process") { off.processes = 1; }
  SECTION("another node") { off.nodes = {"a", "b"}; }
  run_with_runtime(off, [&](weft::runtime& runtime, weft::communicator& world) {
    expect(!runtime.allocate<int>(1).shared(), "ordinary memory");
    call_in_place(runtime, world, where::mixed, 20, seed_of_this_run() + 5);
  });
}

TEST_CASE("one process that disappears ends the calls of buffers in place, and nobody writes there any more",
          "[in place]") {
  auto what = small_job(3);
  what.settings.progress = GENERATE(weft::progress_mode::caller, weft::progress_mode::thread);
  struct vanished {};
  const auto outcomes = run_processes(what, [&](int process, weft::runtime& runtime) {
    auto in = runtime.allocate<double>(30'000), out = runtime.allocate<double>(30'000);
    weft::communicator& world = runtime.world();
    world.allreduce(in, out, weft::sum);
    if (process == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      throw vanished{};
    }
    expect_text(expect_error(weft::errc::peer_lost, [&] { world.allreduce(in, out, weft::sum); }), "allreduce on rank");
    std::ranges::fill(out, 7);
    expect_error(weft::errc::peer_lost, [&] { world.allreduce(in, out, weft::sum); });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    expect(std::ranges::all_of(out, [](double each) { return each == 7; }), "nobody to write to the output");
  });
  CHECK(text_of(outcomes[0]) == "no error");
  CHECK(text_of(outcomes[2]) == "no error");
}

TEST_CASE("who shares no buffer of a failed call waits for nobody", "[in place]") {
  auto what = small_job(3);
  what.settings.peer_timeout = what.patience;
  const weft::clock::duration enough = what.patience / 2;
  std::latch waiting(2);
  std::promise<void> over;
  std::shared_future<void> end = over.get_future().share();
  run_with_runtime(what, [&](weft::runtime& runtime, weft::communicator& world) {
    if (world.rank() == 2) {  // never comes
      waiting.wait();
      world.abort();
      return;
    }
    runtime.spawn([&] {  // runs once this rank's call waits
      waiting.count_down();
      const bool root = world.rank() == 0;  // whose call cannot end before this
      expect(!root || end.wait_for(enough) == std::future_status::ready, "an end of the other's call");
    });
    std::vector<double> in(2000, 1), out(2000);
    expect_error(weft::errc::revoked, [&] { world.reduce(in, out, weft::sum, 0); });
    if (world.rank() == 1) over.set_value();
  });
}

TEST_CASE("processes that call different things with buffers in place are told", "[in place]") {
  const int other = GENERATE(0, 1, 2);
  run_with_runtime(small_job(3), [&](weft::runtime& runtime, weft::communicator& world) {
    auto data = runtime.allocate<double>(9000);
    const auto text = expect_error(weft::errc::mismatched_call, [&] {
      if (world.rank() != 1)
        world.allreduce(data, data, weft::sum);
      else if (other == 0)
        world.bcast(data, 1);
      else if (other == 1)
        world.allreduce(data.span().first(8999), data.span().first(8999), weft::sum);
      else
        world.reduce(data, data, weft::sum, 1);
      world.barrier();
    });
    expect_text(text, "called");
  });
}
