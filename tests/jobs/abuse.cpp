// SPDX-License-Identifier: Apache-2.0
// abuse flood|outstanding|divide COUNT: what takes memory that must have a bound. Each process prints what it held
// before, at most and after, as each of its ranks has done its part.
//
//   flood        rank 0 sends COUNT short messages, which the last rank takes only once it has waited for a second
//   outstanding  every rank starts COUNT receives and as many sends before it waits for the first of them
//   divide       COUNT communicators are made, used and freed, by dup and by split
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>
#include <weft/weft.hpp>

#include "holding.hpp"
#include "jobs.hpp"

namespace weft_test {
namespace {

void expect_that(bool right, const char* what) {
  if (!right) throw std::logic_error(what);
}

using four_numbers = std::array<std::int64_t, 4>;
four_numbers numbered(std::int64_t from, std::int64_t number) { return {from, number, from * 31 + number, ~number}; }

void flood(weft::runtime& runtime, weft::communicator& world, std::int64_t count) {
  const int last = world.size() - 1;
  if (world.rank() == 0)
    for (std::int64_t i = 0; i < count; ++i) world.send(numbered(0, i), last, 1);
  if (world.rank() != last) return;
  runtime.sleep(std::chrono::seconds(1));
  four_numbers got{};
  for (std::int64_t i = 0; i < count; ++i) {
    world.recv(got, 0, 1);
    expect_that(got == numbered(0, i), "messages out of order, or changed");
  }
}

/// To the rank half a world away, so that it is in another process.
void outstanding(weft::communicator& world, std::int64_t count) {
  const int n = world.size(), me = world.rank(), other = (me + n / 2) % n;
  const auto all = static_cast<std::size_t>(count);
  std::vector<four_numbers> sent(all), got(all);
  std::vector<weft::handle> started;
  started.reserve(2 * all);
  for (std::int64_t i = 0; i < count; ++i)
    started.push_back(world.irecv(got[static_cast<std::size_t>(i)], other, static_cast<int>(i % 1000)));
  for (std::int64_t i = 0; i < count; ++i) {
    sent[static_cast<std::size_t>(i)] = numbered(me, i);
    started.push_back(world.isend(sent[static_cast<std::size_t>(i)], other, static_cast<int>(i % 1000)));
  }
  weft::wait_all(started);
  for (std::int64_t i = 0; i < count; ++i)
    expect_that(got[static_cast<std::size_t>(i)] == numbered(other, i), "a message of many");
}

void divide(weft::communicator& world, std::int64_t count) {
  const std::int64_t n = world.size();
  for (std::int64_t i = 0; i < count; i += 2) {
    weft::communicator whole = world.dup();
    const auto half = whole.split(world.rank() % 2);
    if (i % 100 != 0) continue;
    std::array<std::int64_t, 1> sum{world.rank() + i};
    whole.allreduce(sum, sum, weft::sum);
    expect_that(sum[0] == n * i + n * (n - 1) / 2, "a sum in a communicator of many");
    expect_that(half->size() == world.size() / 2, "half of the ranks");
  }
}

/// Of the whole process, by one of its ranks.
struct watched {
  weft::communicator& world;
  int process;
  bool looks;

  void look(const char* when) const {
    world.barrier();
    if (looks) print_holding("process " + std::to_string(process) + " " + when, held_now());
    world.barrier();
  }
};

void abuse_rank(weft::runtime& runtime, weft::communicator& world, std::string_view how, std::int64_t count) {
  const char* const ranks = std::getenv("WEFT_RANKS_PER_PROCESS");
  const int each = ranks == nullptr ? 1 : std::atoi(ranks);
  const watched here{world, world.rank() / each, world.rank() % each == 0};
  const auto run = [&](std::int64_t times) {
    if (how == "flood") flood(runtime, world, times);
    if (how == "outstanding") outstanding(world, times);
    if (how == "divide") divide(world, times);
  };
  run(count / 100);  // all that is there but once
  here.look("before");
  if (here.looks) forget_peak();
  world.barrier();
  const auto begin = std::chrono::steady_clock::now();
  run(count);
  world.barrier();
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  if (here.looks)
    std::printf("process %d peak: rss %.1f seconds %.2f\n", here.process,
                static_cast<double>(memory_of_status("VmHWM")) / 1024, time.count());
  here.look("after");
}

}  // namespace

int abuse(int argc, char** argv) try {
  weft::runtime runtime(argc, argv);
  const std::string_view how = argv[2];
  const std::int64_t count = std::atoll(argv[3]);
  runtime.run([&](weft::communicator& world) { abuse_rank(runtime, world, how, count); });
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "abuse: %s\n", e.what());
  return 3;
}

}  // namespace weft_test
