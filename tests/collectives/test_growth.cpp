// SPDX-License-Identifier: Apache-2.0
// Spares that take the ranks of the lost.
#include <latch>
#include <mutex>
#include <numeric>
#include <set>
#include <utility>
#include <weft/api/spares.hpp>

#include "surviving.hpp"

using namespace weft_test;
using weft::detail::with_spares;

namespace {

job with_spare_processes(int kind, int processes, int spares) {
  job what = job_of(kind, processes + spares);
  what.settings.spares = spares * what.ranks_per_process;
  return what;
}

/// Works until that fails, and then in a communicator with spares; so often. Who is in the last one.
int go_on(weft::communicator& world, int losses) {
  std::optional<weft::communicator> now;
  for (int loss = 0; loss < losses; ++loss) {
    weft::communicator& all = now ? *now : world;
    expect_error(weft::errc::peer_lost, [&] {
      for (;;) use(all);
    });
    now = all.grow();
    expect(now->size() <= world.size(), "no more ranks than there were");
  }
  use(*now);
  return now->size();
}

/// The ranks that have run the program, by the name that each has there, and whether they replace others.
class roll {
 public:
  void call(int rank, bool replaces) {
    const std::lock_guard lock(mutex_);
    expect(called_.insert({rank, replaces}).second, "rank ", rank, " once");
  }
  std::set<std::pair<int, bool>> called() const { return called_; }

 private:
  std::mutex mutex_;
  std::set<std::pair<int, bool>> called_;
};

}  // namespace

TEST_CASE("a spare goes to the node of the nearest rank that lives", "[growth]") {
  const std::vector<int> nodes{0, 0, 1, 1, 1, 0, 1, 0};  // 0 to 3 are no spares
  using list = std::vector<int>;
  CHECK(with_spares({0, 1, 2, -1}, {4, 5, 6, 7}, nodes) == list{0, 1, 2, 4});
  CHECK(with_spares({0, 1, -1, 3}, {5, 6, 7}, nodes) == list{0, 1, 5, 3});  // the lower one of two
  CHECK(with_spares({-1, 1, -1, -1}, {4, 5, 6, 7}, nodes) == list{5, 1, 7, 4});
  CHECK(with_spares({0, 1, -1, -1}, {4}, nodes) == list{0, 1, 4, -1});
  CHECK(with_spares({-1, -1}, {4, 5}, nodes) == list{4, 5});
  CHECK(with_spares({0, -1}, {}, nodes) == list{0, -1});
}

TEST_CASE("spares are in no communicator, and end with the others", "[growth]") {
  const int kind = GENERATE(range(0, kinds_of_job));
  CAPTURE(kind);
  const auto what = with_spare_processes(kind, 3, 2);
  roll ran;
  run_ranks(what, [&](weft::communicator& world) {
    expect(world.size() == 3 * what.ranks_per_process, "a world without spares");
    ran.call(world.rank(), world.is_replacement());
    use(world);
    auto same = world.dup();
    use(same);
  });
  CHECK(std::ssize(ran.called()) == 3 * what.ranks_per_process);
}

TEST_CASE("spares take the ranks of the lost", "[growth]") {
  const int kind = GENERATE(range(0, kinds_of_job));
  const int dead = GENERATE(0, 1, 3);  // the first, who coordinates; one in the middle; the last
  CAPTURE(kind, dead);
  const auto what = with_spare_processes(kind, 4, 2);
  const int each = what.ranks_per_process;
  std::latch started(6);
  roll ran;
  const auto failures = run_processes(what, [&](int process, weft::runtime& runtime) {
    started.arrive_and_wait();
    if (process == dead) throw vanished{};
    runtime.run([&](weft::communicator& world) {
      ran.call(world.rank(), world.is_replacement());
      expect(world.size() == 4 * each, "as many ranks as there were");
      if (world.is_replacement()) return use(world);
      expect(go_on(world, 1) == world.size(), "the ranks that there were");
    });
  });
  for (std::size_t p = 0; p < failures.size(); ++p)
    if (static_cast<int>(p) != dead) CHECK(text_of(failures[p]) == "no error");
  std::set<std::pair<int, bool>> expected;
  for (int rank = 0; rank < 4 * each; ++rank) expected.insert({rank, rank / each == dead});
  CHECK(ran.called() == expected);
}

TEST_CASE("one loss after another is replaced, a replacement's too, and then there are fewer ranks", "[growth]") {
  const int kind = GENERATE(0, 1);
  CAPTURE(kind);
  std::latch started(5);
  std::atomic<int> last_size{0}, deaths{0};
  const auto failures = run_processes(with_spare_processes(kind, 3, 2), [&](int, weft::runtime& runtime) {
    started.arrive_and_wait();
    bool dies = false;
    runtime.run([&](weft::communicator& world) {
      dies = world.rank() == 1;
      if (dies) return use(world);
      last_size = go_on(world, 3);
    });
    if (dies) ++deaths;
    if (dies) throw vanished{};
  });
  CHECK(deaths == 3);
  CHECK(last_size == 2);
  CHECK(std::ranges::count_if(failures, [](const auto& each) { return text_of(each) == "no error"; }) == 2);
}

TEST_CASE("a spare that dies disturbs nobody", "[growth]") {
  const int kind = GENERATE(range(0, kinds_of_job));
  CAPTURE(kind);
  const auto what = with_spare_processes(kind, 3, 2);
  std::latch started(5);
  const auto failures = run_processes(what, [&](int process, weft::runtime& runtime) {
    started.arrive_and_wait();
    if (process == 3 || process == 0) throw vanished{};
    runtime.run([&](weft::communicator& world) {
      if (world.is_replacement()) return use(world);
      for (bool lost = false; !lost;) {
        try {
          use(world);
        } catch (const weft::peer_lost& e) {
          lost = true;
          expect(e.rank() / what.ranks_per_process == 0 || e.rank() / what.ranks_per_process == 3, "one of the dead");
        }
      }
      auto now = world.grow();
      expect(now.size() == world.size(), "as many ranks as there were");
      use(now);
    });
  });
  for (const std::size_t p : {1, 2, 4}) CHECK(text_of(failures[p]) == "no error");
}

TEST_CASE("a communicator grows where nobody is lost", "[growth]") {
  const int kind = GENERATE(range(0, kinds_of_job));
  CAPTURE(kind);
  const auto what = with_spare_processes(kind, 3, 1);
  roll ran;
  run_ranks(what, [&](weft::communicator& world) {
    ran.call(world.rank(), world.is_replacement());
    if (world.is_replacement()) return use(world);
    {
      auto same = world.grow();
      expect(same.rank() == world.rank() && same.size() == world.size(), "the same ranks");
      use(same);
    }
  });
  CHECK(std::ssize(ran.called()) == 3 * what.ranks_per_process);
}

TEST_CASE("where some grow and others shrink, or grow another communicator, all are told", "[growth]") {
  run_ranks(with_spare_processes(0, 3, 1), [](weft::communicator& world) {
    auto text = expect_error(weft::errc::mismatched_call, [&] {
      if (world.rank() == 1)
        world.shrink();
      else
        world.grow();
    });
    expect_text(text, "rank 0 called grow where rank 1 called shrink");
    auto halves = world.split(world.rank() == 0 ? 0 : 1);
    text = expect_error(weft::errc::mismatched_call, [&] { halves->grow(); });
    expect_text(text, "grows communicator");
    auto same = world.grow();
    use(same);
  });
}

TEST_CASE("without spares a communicator is shrunk", "[growth]") {
  run_ranks(small_job(3), [](weft::communicator& world) {
    auto same = world.grow();
    expect(!same.is_replacement() && same.size() == 3, "the same ranks");
    use(same);
  });
}

TEST_CASE("a spare has no world, and a job is not of spares alone", "[growth]") {
  for (const auto& failure : run_processes(with_spare_processes(0, 2, 1), [](int process, weft::runtime&runtime) {
         if (process < 2) return use(runtime.world());
         expect_text(expect_error(weft::errc::invalid_argument, [&] { runtime.world(); }), "this rank is a spare");
         runtime.run([](weft::communicator&) { expect(false, "no program of a spare"); });
       }))
    CHECK(text_of(failure) == "no error");
  job what = small_job(2);
  what.settings.spares = 2;
  for (const auto& failure : run_processes(what, [](int, weft::runtime&) {}))
    CHECK_THAT(text_of(failure), ContainsSubstring("--spares=2: the job has 2 ranks, spares among them"));
}
