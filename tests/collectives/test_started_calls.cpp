// SPDX-License-Identifier: Apache-2.0
// Started calls through memory: what they have shown is there for the others, whatever their rank does next, and those
// that are over serve again.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>
#include <weft/fabric/arena.hpp>

#include "joined_job.hpp"
#include "run_ranks.hpp"

using namespace std::chrono_literals;
using namespace weft_test;

namespace {

/// Blocks until `reached` is at least `count`, and polls nothing meanwhile.
void sleep_until(const std::atomic<int>& reached, int count, const char* what) {
  const auto until = std::chrono::steady_clock::now() + 30s;
  while (reached.load() < count) {
    expect(std::chrono::steady_clock::now() < until, what);
    std::this_thread::sleep_for(100us);
  }
}

job any_job() {
  job what = GENERATE(small_job(2), small_job(3), small_job(1, 3), joined_job(1, 5, 2));
  what.settings.progress = GENERATE(weft::progress_mode::caller, weft::progress_mode::thread);
  return what;
}

}  // namespace

TEST_CASE("a root's started calls are there for the others while it does something else", "[started calls]") {
  const std::size_t count = GENERATE(1, 300);
  std::atomic<int> ended{0};
  run_ranks(small_job(2), [&](weft::communicator& world) {
    std::vector<std::vector<int>> data(3, std::vector<int>(count));
    std::vector<weft::handle> all;
    for (std::size_t i = 0; i < data.size(); ++i) {
      if (world.rank() == 0) std::ranges::fill(data[i], static_cast<int>(i) + 1);
      all.push_back(world.ibcast(data[i], 0));
    }
    if (world.rank() == 0) sleep_until(ended, 1, "the broadcasts to end without their root");
    weft::wait_all(all);
    for (std::size_t i = 0; i < data.size(); ++i)
      expect(std::ranges::count(data[i], static_cast<int>(i) + 1) == static_cast<std::ptrdiff_t>(count), "broadcast ",
             i);
    ended.store(1);
  });
}

TEST_CASE("who starts last has nothing to do for the others to end", "[started calls]") {
  const std::size_t count = GENERATE(1, 300);
  const int processes = GENERATE(1, 2);
  std::atomic<int> started{0}, ended{0};
  run_ranks(processes == 1 ? joined_job(1, 2, 2) : small_job(2), [&](weft::communicator& world) {
    std::vector<std::vector<int>> data(2, std::vector<int>(count, world.rank() + 1));
    std::vector<weft::handle> all;
    if (world.rank() == 1) sleep_until(started, 1, "the other rank to start");
    for (auto& each : data) all.push_back(world.iallreduce(each, each, weft::sum));
    if (world.rank() == 1) sleep_until(ended, 1, "the sums to end without the rank that came last");
    if (world.rank() == 0) started.store(1);
    weft::wait_all(all);
    ended.store(1);
    for (const auto& each : data)
      expect(std::ranges::count(each, 3) == static_cast<std::ptrdiff_t>(count), "a sum of 3");
  });
}

TEST_CASE("started calls go on where the others are far behind", "[started calls]") {
  const std::size_t count = GENERATE(1, 200);  // in a line, and in a slot
  run_ranks(small_job(2), [&](weft::communicator& world) {
    constexpr int ahead = weft::fabric::arena_depth - 1, rounds = 3 * ahead;
    std::vector<std::vector<int>> numbers(rounds, std::vector<int>(count));
    std::vector<weft::handle> all;
    std::vector<int> token(1);
    for (int round = 0; round < rounds; ++round) {
      if (world.rank() == 0) std::ranges::fill(numbers[round], round);
      if (world.rank() == 1 && round == 0) world.recv(token, 0, 3);  // the root has started all
      all.push_back(world.ibcast(numbers[round], 0));
    }
    if (world.rank() == 0) world.send(token, 1, 3);
    weft::wait_all(all);
    for (int round = 0; round < rounds; ++round)
      expect(std::ranges::count(numbers[round], round) == static_cast<std::ptrdiff_t>(count), "round ", round);
  });
}

TEST_CASE("those that are over serve again, as other calls", "[started calls]") {
  run_ranks(any_job(), [](weft::communicator& world) {
    std::mt19937_64 random(seed_of_this_run());  // the same on all ranks
    const int n = world.size(), me = world.rank();
    for (int round = 0; round < 150; ++round) {
      const auto count = static_cast<std::size_t>(random() % (random() % 8 == 0 ? 3000 : 60) + 1);
      const int root = static_cast<int>(random() % static_cast<std::uint64_t>(n));
      std::vector<double> sums(count, me + round), sum(count);
      std::vector<int> data(count, me == root ? round : -1), block(count, me),
          blocks(count * static_cast<std::size_t>(n));
      std::vector<weft::handle> all;
      const auto kinds = random() % 15 + 1;
      if (kinds & 1) all.push_back(world.iallreduce(sums, sum, weft::sum));
      if (kinds & 2) all.push_back(world.ibcast(data, root));
      if (kinds & 4) all.push_back(world.iallgather(block, blocks));
      if (kinds & 8) all.push_back(world.ibarrier());
      if (random() % 2 == 0) std::ranges::reverse(all);
      for (auto& each : all) each.wait();
      const double right = n * round + n * (n - 1) / 2;
      expect(!(kinds & 1) || std::ranges::count(sum, right) == static_cast<std::ptrdiff_t>(count), "the sum of ",
             round);
      expect(!(kinds & 2) || std::ranges::count(data, round) == static_cast<std::ptrdiff_t>(count), "the data");
      for (std::size_t i = 0; (kinds & 4) != 0 && i < blocks.size(); ++i)
        expect(blocks[i] == static_cast<int>(i / count), "block ", i / count, " of round ", round);
    }
  });
}

TEST_CASE("a handle outlives its communicator, on another thread", "[started calls]") {
  run_ranks(small_job(2), [](weft::communicator& world) {
    std::vector<int> in(20, 1), out(20);
    for (int round = 0; round < 20; ++round) {
      weft::handle last;
      {
        auto inner = world.dup();
        for (int i = 0; i < 3; ++i) inner.iallreduce(in, out, weft::sum).wait();
        last = inner.iallreduce(in, out, weft::sum);
      }
      std::thread([&] { last.wait(); }).join();
      expect(out[19] == 2, "the sum");
    }
  });
}

TEST_CASE("an operation whose parts are all there may be dropped while an exception unwinds", "[started calls]") {
  std::atomic<int> started{0};
  run_ranks(small_job(2), [&](weft::communicator& world) {
    auto inner = world.dup();
    std::vector<int> in(20, 1), out(20);
    try {
      const weft::handle dropped = inner.iallreduce(in, out, weft::sum);
      started.fetch_add(1);
      sleep_until(started, 2, "the other rank to start");
      throw std::runtime_error("unwinds");
    } catch (const std::runtime_error&) {
    }
    expect(out[0] == 2, "the sum");
    inner.allreduce(in, out, weft::max);  // it has not been aborted
  });
}

TEST_CASE("an abort ends started calls of which not all ranks of a worker have come", "[started calls]") {
  const std::size_t count = GENERATE(1, 20000);
  std::atomic<int> revoked{0};
  run_ranks(joined_job(1, 5, 2), [&](weft::communicator& world) {
    auto inner = world.dup();
    std::vector<int> in(count, 1), out(count, -1);
    inner.iallreduce(in, out, weft::sum).wait();
    std::ranges::fill(out, -1);
    weft::handle call;
    if (world.rank() != world.size() - 1) call = inner.iallreduce(in, out, weft::sum);
    world.barrier();
    if (world.rank() == 0) inner.abort();
    try {
      if (call.valid()) call.wait();
    } catch (const weft::error& e) {
      if (e.code() == weft::errc::revoked) revoked.fetch_add(1);
      expect(std::ranges::count(out, -1) == static_cast<std::ptrdiff_t>(count), "a buffer that nobody has used");
    }
    world.barrier();
  });
  CHECK(revoked.load() == 4);
}
