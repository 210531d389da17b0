// SPDX-License-Identifier: Apache-2.0
// Collectives of vectors that go by the long slots in the processes' heaps. Each process is a thread here, with a
// mapping of its own.
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <functional>
#include <vector>

#include "node_cases.hpp"
#include "sanitized.hpp"
#include "thorough.hpp"

using namespace weft_test;

namespace {

using weft::schedules::collective;

/// Calls of lengths about those that fill some slots, of a board or long ones, and pieces of them.
void call_by_long_slots(weft::communicator& world, int calls, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::size_t end) { return static_cast<std::size_t>(random() % end); };
  for (int i = 0; i < calls; ++i) {
    collective_case c;
    do {
      c.what = static_cast<collective>(below(weft::schedules::collectives));
    } while (c.what == collective::barrier);
    const bool blocks = weft::schedules::has_blocks(c.what);
    const std::size_t size = static_cast<std::size_t>(world.size()), long_slot = 128 << 10;
    const std::size_t filled[]{8 << 10, long_slot, long_slot * size / (size + 1), 2 * long_slot, 7 * long_slot / 2};
    draw_terms(c, world.size(), random);
    const std::size_t element = size_of(c.type);
    c.count = (filled[below(5)] + below(2) * below(8) * 64) / element + below(40) - 20;
    if (blocks && below(3) != 0) c.count /= size;
    c.uneven = blocks && below(2) == 0;
    check_case(world, c);
  }
}

/// As long as a slot of a board.
struct large {
  std::array<std::int64_t, 1024> each{};
};

/// For this process, until this goes: files are not to become longer.
class file_limit {
 public:
  explicit file_limit(std::size_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    signal_ = ::signal(SIGXFSZ, SIG_IGN);
  }
  ~file_limit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, signal_);
  }
  file_limit(const file_limit&) = delete;
  file_limit& operator=(const file_limit&) = delete;

 private:
  rlimit before_{};
  sighandler_t signal_ = SIG_DFL;
};

/// In a job of so many processes of which one has nothing left of its heap.
void run_without_long_slots(int processes, const std::function<void(weft::communicator&)>& body) {
  constexpr std::size_t region = std::size_t{16} << 20;  // the least
  const file_limit limit(static_cast<std::size_t>(processes) * region);
  const auto failures = run_processes(small_job(processes), [&](int process, weft::runtime& runtime) {
    std::vector<weft::node_array<std::byte>> taken;
    for (std::size_t bytes = process == 1 ? region : 0; bytes >= 128; bytes /= 2) do
        taken.push_back(runtime.allocate<std::byte>(bytes));
      while (taken.back().shared());
    runtime.run(body);
  });
  CAPTURE(seed_of_this_run());
  for (const auto& failure : failures) CHECK(text_of(failure) == "no error");
}

}  // namespace

TEST_CASE("by long slots the serial result comes", "[node]") {
  const int calls = thorough() ? 200 : slowed ? 30 : 80;
  for (const int processes : {2, 3, 5, 8})
    run_ranks(small_job(processes), [&](weft::communicator& world) {
      expect(on_node(world, collective::allreduce), "memory that the node shares");
      call_by_long_slots(world, calls, seed_of_this_run() + static_cast<std::uint64_t>(processes));
    });
}

TEST_CASE("ranks of a process meet before they go by long slots", "[node]") {
  for (const int workers : {1, 2}) {
    job what = small_job(3, 2);
    what.settings.workers = workers;
    run_ranks(what,
              [&](weft::communicator& world) { call_by_long_slots(world, slowed ? 20 : 60, seed_of_this_run()); });
  }
}

TEST_CASE("communicators after one another have long slots, and several at once", "[node]") {
  run_ranks(small_job(4), [&](weft::communicator& world) {
    for (int turn = 0; turn < 12; ++turn) {
      auto half = world.split(world.rank() % 2, 0), all = world.split(0, -world.rank());
      call_by_long_slots(half.value(), 4, seed_of_this_run() + static_cast<std::uint64_t>(turn));
      call_by_long_slots(all.value(), 4, seed_of_this_run() + static_cast<std::uint64_t>(turn));
    }
  });
}

TEST_CASE("where a process has no memory for long slots all go other ways", "[node]") {
  if (emulated) return;  // where no process reads another's memory, as they would
  run_without_long_slots(3, [](weft::communicator& world) {
    call_by_long_slots(world, 60, seed_of_this_run());
    expect(weft::detail::choices::way(world, {collective::allreduce, 1 << 20, {}, 0})->pattern ==
               weft::schedules::memory_pattern::single_copy,
           "another way");
  });
}

TEST_CASE("blocks of elements of which a slot has no room for one of each are combined", "[node]") {
  const auto op = weft::make_operator<large>(
      [](const large* in, large* inout, std::size_t n) {
        for (std::size_t i = 0; i < n; ++i)
          std::ranges::transform(in[i].each, inout[i].each, inout[i].each.begin(), std::plus<>());
      },
      weft::does_not_commute);
  run_without_long_slots(8, [&](weft::communicator& world) {
    for (const std::size_t count : {1u, 2u, 5u}) {
      std::vector<large> in(8 * count), block(count);
      for (std::size_t i = 0; i < in.size(); ++i)
        for (std::size_t j = 0; j < in[i].each.size(); ++j)
          in[i].each[j] = static_cast<std::int64_t>(i + j) * (world.rank() + 1);
      world.reduce_scatter(in, block, op);
      for (std::size_t i = 0; i < count; ++i)
        for (std::size_t j = 0; j < block[i].each.size(); ++j)
          expect(block[i].each[j] == static_cast<std::int64_t>(world.rank() * count + i + j) * 36, "the sum of all");
    }
  });
}
