// SPDX-License-Identifier: Apache-2.0
// What the living ranks of a communicator agree on, and the communicators that they make.
#include <algorithm>
#include <atomic>
#include <latch>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <utility>

#include "surviving.hpp"

using namespace weft_test;

TEST_CASE("all ranks agree on the and of what they say", "[survivors]") {
  const int kind = GENERATE(range(0, kinds_of_job));
  CAPTURE(kind);
  run_ranks(job_of(kind, 3), [](weft::communicator& world) {
    for (int round = 0; round < 20; ++round) {
      const auto all = world.agree(~(1 << world.rank()));
      expect(all.flag == ~((1 << world.size()) - 1), "the and of all");
      expect(all.missing.empty(), "nobody to be missing");
      expect(static_cast<bool>(world.agree(round % 2 == 0 || world.rank() != 1)) == (round % 2 == 0), "a flag");
    }
    expect(world.agree(-1).flag == -1, "a negative flag");
    use(world);
  });
}

TEST_CASE("a communicator is shrunk where nobody is lost", "[survivors]") {
  const int kind = GENERATE(range(0, kinds_of_job));
  CAPTURE(kind);
  run_ranks(job_of(kind, 3), [](weft::communicator& world) {
    for (int round = 0; round < 30; ++round) {  // more than there are boards
      auto same = world.shrink();
      expect(same.rank() == world.rank() && same.size() == world.size(), "the same ranks");
      use(same);
    }
  });
}

TEST_CASE("those that live agree and go on in a smaller communicator", "[survivors]") {
  const int kind = GENERATE(range(0, kinds_of_job));
  const int dead = GENERATE(0, 1, 3);  // the first, who coordinates; one in the middle; the last
  CAPTURE(kind, dead);
  const auto what = job_of(kind, 4);
  std::latch started(4);
  const auto failures = run_processes(what, [&](int process, weft::runtime& runtime) {
    started.arrive_and_wait();
    if (process == dead) throw vanished{};
    runtime.run([&](weft::communicator& world) {
      const int each = world.size() / 4;
      expect_error(weft::errc::peer_lost, [&] {
        for (;;) world.barrier();
      });
      const auto all = world.agree(3 << world.rank());
      std::vector<int> gone(static_cast<std::size_t>(each));
      std::iota(gone.begin(), gone.end(), dead * each);
      expect(all.missing == gone, "the dead to be missing");
      auto living = world.shrink();
      expect(living.size() == world.size() - each, "a communicator of those that live");
      expect(living.rank() == world.rank() - (world.rank() > dead * each ? each : 0), "their order");
      use(living);
      auto halves = living.split(living.rank() % 2);
      use(*halves);
      expect(world.agree(1).missing == gone, "the same once more");
    });
  });
  for (std::size_t p = 0; p < failures.size(); ++p)
    if (static_cast<int>(p) != dead) CHECK(text_of(failures[p]) == "no error");
}

TEST_CASE("losses while ranks agree leave one answer", "[survivors]") {
  const int kind = GENERATE(range(0, kinds_of_job));
  CAPTURE(kind);
  for (int round = 0; round < 5; ++round) {
    const auto what = job_of(kind, 5);
    std::latch started(5);
    std::vector<std::vector<int>> missing(static_cast<std::size_t>(what.ranks()));
    std::vector<int> sizes(static_cast<std::size_t>(what.ranks()));
    const int first = round % 5, second = (round * 2 + 1) % 5;
    const auto failures = run_processes(what, [&](int process, weft::runtime& runtime) {
      started.arrive_and_wait();
      if (process == first || process == second) {
        runtime.run([&](weft::communicator& world) {
          for (int i = 0; i < 3 + 4 * round + 3 * (process == second); ++i) world.agree(1);
        });
        throw vanished{};
      }
      runtime.run([&](weft::communicator& world) {
        auto& mine = missing[static_cast<std::size_t>(world.rank())];
        const auto all_gone = static_cast<std::size_t>((first == second ? 1 : 2) * world.size() / 5);
        while (mine.size() < all_gone) mine = world.agree(1).missing;
        auto living = world.shrink();
        use(living);
        sizes[static_cast<std::size_t>(world.rank())] = living.size();
      });
    });
    int living = 0;
    while (living == first || living == second) ++living;
    for (std::size_t r = 0; r < missing.size(); ++r) {
      const int process = static_cast<int>(r) / (what.ranks() / 5);
      if (process == first || process == second) continue;
      CHECK(text_of(failures[static_cast<std::size_t>(process)]) == "no error");
      CHECK(sizes[r] == what.ranks() - static_cast<int>(missing[r].size()));
      CHECK(missing[r] == missing[static_cast<std::size_t>(what.ranks() / 5 * living)]);
    }
  }
}

TEST_CASE("ranks that have left take no part", "[survivors]") {
  const int kind = GENERATE(range(0, kinds_of_job));
  const int leaver = GENERATE(0, 2);
  CAPTURE(kind, leaver);
  run_ranks(job_of(kind, 3), [&](weft::communicator& world) {
    auto inner = std::make_optional(world.dup());
    if (world.rank() == leaver) {
      inner.reset();
    } else {
      const auto all = inner->agree(world.rank() + 8);
      expect(all.missing == std::vector{leaver}, "who has left to be missing");
      expect((all.flag & 8) != 0, "the and of the others");
      auto others = inner->shrink();
      expect(others.size() == world.size() - 1, "a communicator of the others");
      use(others);
    }
    world.barrier();
  });
}

TEST_CASE("ranks whose program has failed take no part", "[survivors]") {
  const int kind = GENERATE(range(0, kinds_of_job));
  const int failing = GENERATE(0, 2);
  CAPTURE(kind, failing);
  std::atomic<int> went_on{0};
  const job what = job_of(kind, 3);
  const auto outcomes = outcomes_of(what, [&](weft::communicator& world) {
    if (world.rank() == failing) throw std::runtime_error("it cannot go on");
    try {
      world.barrier();
    } catch (const weft::error& error) {
      expect(error.code() == weft::errc::operation_failed, "what ended the barrier, found ", error.what());
    }
    expect(world.agree(1).missing == std::vector{failing}, "whose program has failed to be missing");
    auto others = world.shrink();
    expect(others.size() == world.size() - 1, "a communicator of the others");
    use(others);
    ++went_on;
  });
  for (int rank = 0; rank < what.ranks(); ++rank)
    CHECK(text_of(outcomes[static_cast<std::size_t>(rank)]) == (rank == failing ? "it cannot go on" : "no error"));
  CHECK(went_on == what.ranks() - 1);
}

TEST_CASE("a revoked communicator is shrunk to one that works", "[survivors]") {
  const int kind = GENERATE(range(0, kinds_of_job));
  CAPTURE(kind);
  run_ranks(job_of(kind, 3), [](weft::communicator& world) {
    auto inner = world.dup();
    if (inner.rank() == 1) inner.revoke();
    expect_error(weft::errc::revoked, [&] {
      for (;;) inner.barrier();
    });
    expect(inner.agree(1).missing.empty(), "nobody to be missing");
    auto again = inner.shrink();
    use(again);
  });
}

TEST_CASE("where some agree and others shrink all are told", "[survivors]") {
  run_ranks(small_job(3), [](weft::communicator& world) {
    const auto text = expect_error(weft::errc::mismatched_call, [&] {
      if (world.rank() == 1)
        world.shrink();
      else
        world.agree(1);
    });
    expect_text(text, "rank 0 called agree where rank 1 called shrink");
    expect(world.agree(1).missing.empty(), "the next agreement");
    use(world);
  });
}
