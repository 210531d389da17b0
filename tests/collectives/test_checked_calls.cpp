// SPDX-License-Identifier: Apache-2.0
// The checked mode: what the ranks call is compared before anything is sent.
#include <numeric>
#include <random>

#include "run_ranks.hpp"

using namespace weft_test;

namespace {

job checked(int processes, int ranks_per_process = 1) {
  job what = small_job(processes, ranks_per_process);
  what.settings.check = true;
  return what;
}

enum class form { blocking, started, planned };

/// One rank's buffers, as they were, and calls on them.
struct calls {
  explicit calls(weft::communicator& on, std::size_t count) : on(on), count(count) {
    in.resize(count * static_cast<std::size_t>(on.size()) + 8);
    std::iota(in.begin(), in.end(), 100 * on.rank());
    out.assign(in.size(), -1);
    in_before = in;
    out_before = out;
  }

  /// An all-reduce, or what is like it but for one thing. The first is right.
  void make(int variant, form how) {
    const std::span<const double> some(in.data(), variant == 3 ? count + 1 : count);
    const std::span<double> to(out.data(), some.size());
    const std::span<const std::int64_t> numbers(reinterpret_cast<const std::int64_t*>(in.data()), count);
    const std::span<std::int64_t> numbers_to(reinterpret_cast<std::int64_t*>(out.data()), count);
    switch (variant) {
      default:
        return all_reduce(some, to, weft::sum, how);
      case 1:
        return all_reduce(some, to, weft::max, how);
      case 2:
        return all_reduce(numbers, numbers_to, weft::sum, how);
      case 4:
        return how == form::blocking  ? on.bcast(to, 0)
               : how == form::started ? static_cast<void>(on.ibcast(to, 0).wait())
                                      : static_cast<void>(on.plan_bcast(to, 0));
      case 5:
        return how == form::blocking ? on.barrier() : static_cast<void>(on.ibarrier().wait());
    }
  }
  static constexpr int variants = 6;

  bool untouched() const { return in == in_before && out == out_before; }

  weft::communicator& on;
  std::size_t count;
  std::vector<double> in, out, in_before, out_before;

 private:
  template <class T>
  void all_reduce(std::span<const T> from, std::span<T> to, weft::reduction_operator op, form how) {
    if (how == form::blocking) return on.allreduce(from, to, op);
    if (how == form::started) return static_cast<void>(on.iallreduce(from, to, op).wait());
    weft::plan made = on.plan_allreduce(from, to, op);
    made.start();
    made.wait();
  }
};

}  // namespace

TEST_CASE("what differs from rank to rank ends in an error on every rank, and nothing is touched", "[checked]") {
  job what = GENERATE(checked(2), checked(5), checked(1, 4), checked(2, 3));
  what.settings.progress = GENERATE(weft::progress_mode::caller, weft::progress_mode::thread);
  // By memory and by messages, what is called and what announces it.
  what.settings.allreduce = GENERATE("auto", "ring");
  what.settings.allgather = GENERATE("auto", "bruck");
  run_ranks(what, [](weft::communicator& world) {
    std::mt19937_64 all(seed_of_this_run());  // the same on every rank
    for (int round = 0; round < 60; ++round) {
      const form how = static_cast<form>(all() % 3);
      const std::size_t count = all() % 2 == 0 ? 1 + all() % 50 : 3000;
      const int odd_one = static_cast<int>(all() % static_cast<std::size_t>(world.size()));
      const int variant = static_cast<int>(all() % calls::variants);
      calls mine(world, count);
      const auto call = [&] { mine.make(world.rank() == odd_one ? variant : 0, how); };
      if (variant == 0) {
        call();
        const double first = 100.0 * world.size() * (world.size() - 1) / 2;
        expect(mine.out[0] == first && mine.in == mine.in_before, "a sum where all call the same, round ", round);
        continue;
      }
      const auto text = expect_error(weft::errc::mismatched_call, call);
      expect(mine.untouched(), "the buffers to be as they were, round ", round);
      expect_text(text, "on rank " + std::to_string(world.rank()) + " of communicator 0: rank");
      expect_text(
          text, "rank " + std::to_string(odd_one) + (how == form::planned && variant != 5 ? " planned " : " called "));
      expect_text(text, std::string(how == form::planned ? "planned" : "called") + " allreduce(sum, double, count " +
                            std::to_string(count) + " elements)");
      if (variant == 1) expect_text(text, "allreduce(max, double");
      if (variant == 2) expect_text(text, "allreduce(sum, int64");
      if (variant == 3) expect_text(text, "count " + std::to_string(count + 1) + " elements");
      if (variant == 4) expect_text(text, "bcast(count " + std::to_string(count * sizeof(double)) + " bytes, root 0)");
      if (variant == 5) expect_text(text, "barrier()");
    }
    calls last(world, 100);
    last.make(0, form::blocking);
  });
}

TEST_CASE("who called what is told of every rank", "[checked]") {
  run_ranks(checked(7), [](weft::communicator& world) {
    const int called[] = {0, 0, 0, 4, 0, 1, 1};
    calls mine(world, 10);
    const auto text =
        expect_error(weft::errc::mismatched_call, [&] { mine.make(called[world.rank()], form::blocking); });
    expect_text(text, ": ranks 0 to 2, 4 called allreduce(sum, double, count 10 elements), through shared memory");
    expect_text(text, "; rank 3 called bcast(count 80 bytes, root 0), through shared memory");
    expect_text(text, "; ranks 5, 6 called allreduce(max, double, count 10 elements), through shared memory");
  });
}

TEST_CASE("roots, counts of blocks and plans are compared", "[checked]") {
  run_ranks(GENERATE(0, 1) == 0 ? checked(3) : checked(1, 3), [](weft::communicator& world) {
    const auto n = static_cast<std::size_t>(world.size());
    const auto me = static_cast<std::size_t>(world.rank());
    const int root = world.rank() == 2 ? 1 : 0;
    std::vector<double> one(4, 1), all(4 * n, 1);
    const auto differs = [&](const std::string& a, const std::string& b, auto&& call) {
      const auto text = expect_error(weft::errc::mismatched_call, call);
      expect_text(text, "ranks 0, 1 " + a);
      expect_text(text, "rank 2 " + b);
    };
    differs("called gather(count 32 bytes a rank, root 0)", "called gather(count 32 bytes a rank, root 1)",
            [&] { world.gather(one, all, root); });
    std::vector<std::size_t> counts(n, 3);
    counts[0] += me == 2 ? 0 : 1;
    counts[1] += me == 2 ? 1 : 0;
    std::vector<double> mine(counts[me]);
    differs("called allgather(counts of hash ", "called allgather(counts of hash ",
            [&] { world.allgather(mine, std::span(all).first(10), counts); });
    differs("planned barrier()", "called barrier()", [&] {
      if (me == 2) return world.barrier();
      static_cast<void>(world.plan_barrier());
    });
    const std::vector<std::size_t> right{2, 3, 4};
    std::vector<double> part(right[me], world.rank()), together(9);
    world.allgather(part, together, right);
    expect(together == std::vector<double>{0, 0, 1, 1, 1, 2, 2, 2, 2}, "blocks of counts that are the same");
  });
}

TEST_CASE("in an all-to-all with counts the pair that disagrees is named", "[checked]") {
  run_ranks(GENERATE(0, 1) == 0 ? checked(4) : checked(2, 2), [](weft::communicator& world) {
    const auto n = static_cast<std::size_t>(world.size());
    const auto me = static_cast<std::size_t>(world.rank());
    const auto of = [](std::size_t from, std::size_t to) { return 1 + 3 * from + to; };
    std::vector<std::size_t> sent, received;
    for (std::size_t r = 0; r < n; ++r) sent.push_back(of(me, r)), received.push_back(of(r, me));
    const auto call = [&] {
      std::vector<double> in(std::accumulate(sent.begin(), sent.end(), std::size_t{0}), world.rank());
      std::vector<double> out(std::accumulate(received.begin(), received.end(), std::size_t{0}), -1);
      const auto before = out;
      try {
        world.alltoall(in, out, sent, received);
      } catch (const weft::error&) {
        expect(out == before, "the buffer to be as it was");
        throw;
      }
      expect(out.front() == 0 && out.back() == world.size() - 1, "the blocks of all ranks");
    };
    call();
    if (me == 3) sent[1] += 2;
    expect_text(expect_error(weft::errc::mismatched_call, call),
                "rank 3 sends rank 1 another number of bytes than that expects of it");
    if (me == 3) sent[1] -= 2;
    if (me == 0) received[2] = 0;
    expect_text(expect_error(weft::errc::mismatched_call, call), "rank 2 sends rank 0 another number");
    if (me == 2) sent[3] += 1;
    expect_text(expect_error(weft::errc::mismatched_call, call), "the ranks of several pairs");
    if (me == 2) sent[3] -= 1, sent[0] = 0;
    call();
  });
}

TEST_CASE("a rank whose arguments are refused tells the others", "[checked]") {
  const form how = GENERATE(form::blocking, form::started, form::planned);
  run_ranks(checked(3), [how](weft::communicator& world) {
    calls mine(world, 20);
    std::vector<double> longer(21);
    for (int i = 0; i < 3; ++i) {
      if (world.rank() == i) {
        expect_text(expect_error(weft::errc::invalid_argument,
                                 [&] {
                                   const std::span<double> out(mine.out.data(), 20);
                                   if (how == form::blocking) world.allreduce(longer, out, weft::sum);
                                   if (how == form::started)
                                     static_cast<void>(world.iallreduce(longer, out, weft::sum));
                                   if (how == form::planned)
                                     static_cast<void>(world.plan_allreduce(longer, out, weft::sum));
                                 }),
                    "the input has 21 elements, the output 20");
      } else {
        expect_text(expect_error(weft::errc::mismatched_call, [&] { mine.make(0, how); }),
                    "rank " + std::to_string(i) + " made a call whose arguments were refused");
      }
      expect(mine.untouched(), "the buffers to be as they were");
    }
    mine.make(0, how);
    world.barrier();
  });
}

TEST_CASE("a rank whose elements are refused tells the others, too", "[checked]") {
  run_ranks(checked(3), [](weft::communicator& world) {
    calls mine(world, 20);
    const weft::buffer bytes(mine.out.data(), 20, weft::type::opaque(8)),
        all(mine.out.data(), 20, weft::type::of<double>());
    if (world.rank() == 1)
      expect_text(expect_error(weft::errc::invalid_argument, [&] { world.allreduce(bytes, bytes, weft::sum); }),
                  "allreduce on rank 1 of communicator 0: a built-in operator on elements of 8 bytes");
    else
      expect_text(expect_error(weft::errc::mismatched_call, [&] { world.allreduce(all, all, weft::sum); }),
                  "rank 1 made a call whose arguments were refused");
    expect(mine.untouched(), "the buffers to be as they were");
    world.barrier();
  });
}

TEST_CASE("starting an operation waits for nobody, checked or not", "[checked]") {
  job what = checked(2, GENERATE(1, 2));
  what.settings.allreduce = GENERATE("auto", "ring");
  what.settings.progress = GENERATE(weft::progress_mode::caller, weft::progress_mode::thread);
  run_ranks(what, [](weft::communicator& world) {
    const int n = world.size(), me = world.rank();
    std::vector<double> one(3000, 1), two(10, 2);
    std::vector<weft::handle> all;
    const auto start = [&] {
      all.push_back(world.iallreduce(one, one, weft::sum));
      all.push_back(world.iallreduce(two, two, weft::sum));
    };
    // The ranks come one after another: each starts, and then lets the next one start.
    std::vector<int> token(1);
    if (me > 0) world.recv(token, me - 1, 3);
    start();
    if (me + 1 < n) world.send(token, me + 1, 3);
    weft::wait_all(all);
    expect(one[2999] == n && two[9] == 2 * n, "both sums");
    std::vector<float> few(5, 0.5F), sum(5);
    world.allreduce(few, sum, weft::reproducible_sum);
    expect(sum[4] == 0.5F * static_cast<float>(n), "a reproducible sum");
    auto half = world.split(me % 2);
    expect(half->size() == (n + 1 - me % 2) / 2, "a split");
  });
}

TEST_CASE("ranks that are checked learn of a loss", "[checked]") {
  run_ranks(checked(3), [](weft::communicator& world) {
    auto inner = world.dup();
    if (world.rank() == 1) {
      inner.abort();
      return world.barrier();
    }
    std::vector<double> data(30, 1), before = data;
    expect_error(weft::errc::revoked, [&] { inner.allreduce(data, data, weft::sum); });
    expect(data == before, "the buffer to be as it was");
    world.barrier();
  });
}
