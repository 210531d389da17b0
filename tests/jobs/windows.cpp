// SPDX-License-Identifier: Apache-2.0
// windows [WAIT]: ranks put, get and count in each other's memory; with WAIT (note, lock, flush or fence) rank 1 kills
// its process while the others wait for it in that, and they say whom they have lost.
#include <signal.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>
#include <weft/weft.hpp>

#include "jobs.hpp"
#include "parts.hpp"

namespace weft_test {

void use_windows(weft::communicator& world) {
  const int me = world.rank(), size = world.size(), next = (me + 1) % size, before = (me + size - 1) % size;
  const auto require = [](bool right, const char* what) {
    if (!right) throw std::logic_error(what);
  };
  for (const std::size_t count : {1, 300, 3'000, 100'000}) {
    weft::window<std::int64_t> all(world, 2 * count + 2, 2);
    std::vector<std::int64_t> mine(count), got(count);
    for (std::int64_t round = 1; round <= 6; ++round) {
      std::ranges::fill(mine, round * 1000 + me);
      const std::size_t half = round % 2 == 0 ? count : 0;
      all.put_notify(next, half, mine, 0);
      all.wait_notified(0);
      require(std::ranges::count(all.local().subspan(half, count), round * 1000 + before) == std::ssize(mine),
              "a notified put");
      all.flush(next);
      all.put_notify(before, 2 * count, std::span<const std::int64_t>(), 1);
      all.wait_notified(1);
      all.get(next, half, got);
      all.flush(next);
      require(got == mine, "what was put");
      all.fetch_and_op(0, 2 * count, std::int64_t{1}, weft::sum);
      all.lock(0);
      all.get(0, 2 * count + 1, std::span(got).first(1));
      all.flush(0);
      ++got[0];
      all.put(0, 2 * count + 1, std::span(got).first(1));
      all.unlock(0);
    }
    all.fence();
    if (me == 0)
      require(all.local()[2 * count] == 6 * size && all.local()[2 * count + 1] == 6 * size, "what all have counted");
  }
}

namespace {

void lose_one(weft::communicator& world, std::string_view waits) {
  weft::window<int> all(world, 100'000);
  std::vector<int> data(50'000);
  if (world.rank() == 1) all.lock(1);
  try {
    world.barrier();  // which the death may overtake
    if (world.rank() == 1) ::raise(SIGKILL);
    for (;;) {
      if (waits == "note") all.wait_notified(0);
      if (waits == "lock") all.lock(1);
      if (waits == "fence") all.fence();
      if (waits == "flush") {
        all.put(1, 0, data);
        all.get(1, 50'000, data);
        all.flush(1);
        // Into memory that is shared a put does not wait for anybody.
        if (all.shares(1)) all.fence();
      }
    }
  } catch (const weft::peer_lost& e) {
    std::printf("%d has lost %d\n", world.rank(), e.rank());
  }
}

}  // namespace

int windows(int argc, char** argv) {
  weft::runtime runtime{argc, argv};
  runtime.run([&](weft::communicator& world) {
    if (argc > 2) return lose_one(world, argv[2]);
    use_windows(world);
    world.barrier();
    if (world.rank() == 0) std::puts("right");
  });
  return 0;
}

}  // namespace weft_test
