// SPDX-License-Identifier: Apache-2.0
// Every collective against the serial result.
#include <algorithm>
#include <random>
#include <sstream>

#include "operands.hpp"
#include "run_ranks.hpp"
#include "thorough.hpp"

using namespace weft_test;

namespace {

struct call {
  std::size_t count = 0;
  operation op = operation::sum;
  int root = 0;
  bool in_place = false;
};

template <class T>
std::string describe(const char* what, const weft::communicator& world, const call& c) {
  std::ostringstream text;
  text << what << " of " << c.count << " " << weft::kernels::name(weft::kernels::type_of<T>) << "s by "
       << weft::kernels::name(c.op) << ", root " << c.root << (c.in_place ? ", in place" : "") << ", rank "
       << world.rank() << " of " << world.size();
  return text.str();
}

template <class T>
void expect_equal(std::span<const T> found, const std::valarray<T>& right, const std::string& what) {
  expect(found.size() == right.size(), what, ": count");
  for (std::size_t i = 0; i < right.size(); ++i) expect(found[i] == right[i], what, ": element ", i);
}

/// Reduces to `root`, or, for root -1, to all.
template <class T>
void check_reduction(weft::communicator& world, const call& c) {
  const bool to_all = c.root < 0;
  const std::string what = describe<T>(to_all ? "allreduce" : "reduce", world, c);
  const auto mine = operands<T>(world.rank(), c.count, c.op);
  guarded<T> in(c.count);
  guarded<T> out(c.count);
  copy(mine, in.values());
  const auto into = c.in_place ? in.values() : out.values();
  const weft::reduction_operator op(c.op);
  if (to_all)
    world.allreduce(in.values(), into, op);
  else
    world.reduce(in.values(), into, op, c.root);
  const bool has_result = to_all || c.root == world.rank();
  if (has_result) expect_equal<T>(into, serial<T>(world.size(), c.count, c.op), what);
  if (!c.in_place || !has_result) expect_equal<T>(in.values(), mine, what + ": the input");
  if (!has_result) expect(guarded<T>::untouched(out.values()), what, ": no output");
  expect(in.untouched_outside() && out.untouched_outside(), what, ": guards untouched");
}

template <class T>
void check_broadcast(weft::communicator& world, const call& c) {
  const std::string what = describe<T>("bcast", world, c);
  const auto right = operands<T>(c.root + 1, c.count, c.op);
  guarded<T> data(c.count);
  if (world.rank() == c.root) copy(right, data.values());
  world.bcast(data.values(), c.root);
  expect_equal<T>(data.values(), right, what);
  expect(data.untouched_outside(), what, ": guards untouched");
}

template <class T>
void check_call(weft::communicator& world, int collective, call c) {
  if (collective == 0) return check_broadcast<T>(world, c);
  if (collective == 1) c.root = -1;
  check_reduction<T>(world, c);
}

std::vector<std::size_t> short_counts(int ranks) {
  const auto n = static_cast<std::size_t>(ranks);
  std::vector<std::size_t> counts{0, 1, n - 1, n, n + 1};
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

/// Every operator on every type, and every root, for short vectors.
void check_everything_short(weft::communicator& world) {
  for (const std::size_t count : short_counts(world.size()))
    for (std::size_t type = 0; type < std::tuple_size_v<types>; ++type)
      with_type(type, [&]<class T>(T) {
        int root = 0;
        for (const operation op : operators_of<T>())
          for (const bool in_place : {false, true}) {
            check_call<T>(world, 1, {count, op, 0, in_place});
            check_call<T>(world, 2, {count, op, root++ % world.size(), in_place});
          }
        for (root = 0; root < world.size(); ++root) {
          check_call<T>(world, 0, {count, operators_of<T>().front(), root, false});
          check_call<T>(world, 2, {count, operators_of<T>().front(), root, root % 2 == 0});
        }
      });
}

/// `calls` combinations out of all.
void check_sample(weft::communicator& world, int calls, std::vector<std::size_t> counts, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto any = [&](std::size_t below) { return static_cast<std::size_t>(random() % below); };
  for (const std::size_t more : short_counts(world.size())) counts.push_back(more);
  for (int i = 0; i < calls; ++i) {
    call c;
    c.count = counts[any(counts.size())];
    c.root = static_cast<int>(any(static_cast<std::size_t>(world.size())));
    c.in_place = any(2) == 1;
    const std::size_t type = any(std::tuple_size_v<types>);
    const std::size_t which = any(100);
    const int collective = static_cast<int>(any(4));
    if (collective == 3) {
      world.barrier();
      continue;
    }
    with_type(type, [&]<class T>(T) {
      const auto operators = operators_of<T>();
      c.op = operators[which % operators.size()];
      check_call<T>(world, collective, c);
    });
  }
}

weft::options with_algorithms(const std::string& allreduce, const std::string& reduce,
                              weft::options settings = small_limits()) {
  settings.allreduce = allreduce;
  settings.reduce = reduce;
  return settings;
}

struct shape {
  int processes;
  int ranks_per_process;
};

}  // namespace

TEST_CASE("short collectives of every kind give the serial result", "[results]") {
  const auto settings = GENERATE(with_algorithms("recursive-doubling", "binomial"), with_algorithms("ring", "greedy"));
  const int ranks = GENERATE(1, 2, 3, 4, 5);
  run_ranks(ranks, 1, settings, check_everything_short);
}

TEST_CASE("collectives of every length give the serial result", "[results]") {
  const auto settings = GENERATE(with_algorithms("recursive-doubling", "binomial"), with_algorithms("ring", "greedy"),
                                 with_algorithms("auto", "auto", by_length()));
  const int ranks = GENERATE(range(1, 10));
  run_ranks(ranks, 1, settings, [](weft::communicator& world) {
    check_sample(world, thorough() ? 150 : 50, {1000}, seed_of_this_run());
    check_sample(world, thorough() ? 12 : 4, {65'537}, seed_of_this_run() + 1);
  });
}

TEST_CASE("collectives among fibers give the serial result", "[results]") {
  const auto progress = GENERATE(weft::progress_mode::caller, weft::progress_mode::thread);
  const auto form = GENERATE(shape{2, 4}, shape{3, 3}, shape{1, 16}, shape{1, 2});
  auto settings = small_limits();
  settings.progress = progress;
  settings.allreduce = GENERATE("recursive-doubling", "ring");
  run_ranks(form.processes, form.ranks_per_process, settings, [](weft::communicator& world) {
    check_sample(world, 30, {1000}, seed_of_this_run() + 2);
    check_sample(world, 3, {65'537}, seed_of_this_run() + 3);
  });
}

TEST_CASE("collectives among 64 fibers give the serial result", "[results]") {
  run_ranks(1, 64, small_limits(),
            [](weft::communicator& world) { check_sample(world, 12, {1000}, seed_of_this_run() + 4); });
}

TEST_CASE("a progress thread moves collectives on", "[results]") {
  auto settings = small_limits();
  settings.progress = weft::progress_mode::thread;
  const int ranks = GENERATE(1, 2, 5);
  run_ranks(ranks, 1, settings, [](weft::communicator& world) {
    check_sample(world, 40, {1000}, seed_of_this_run() + 5);
    check_sample(world, 6, {65'537}, seed_of_this_run() + 6);
  });
}

TEST_CASE("collectives over a network of irregular timing give the serial result", "[results]") {
  job what;
  what.processes = 4;
  what.settings = small_limits();
  what.network.jitter_seed = seed_of_this_run() + 7;
  run_ranks(what, [](weft::communicator& world) {
    check_sample(world, 60, {1000}, seed_of_this_run() + 8);
    check_sample(world, 4, {65'537}, seed_of_this_run() + 9);
  });
}

TEST_CASE("every rank gets the same bits, the same every time", "[results]") {
  const std::string algorithm = GENERATE("recursive-doubling", "ring");
  const int ranks = GENERATE(2, 3, 5, 8);
  const std::size_t count = GENERATE(1, 100, 20'000);
  run_ranks(ranks, 1, with_algorithms(algorithm, "auto"), [&](weft::communicator& world) {
    std::mt19937_64 random(seed_of_this_run() + static_cast<std::uint64_t>(world.rank()));
    std::uniform_real_distribution<double> any(-1, 1);
    std::vector<double> in(count);
    for (double& x : in) x = any(random);
    std::vector<double> out(count);
    std::vector<double> again(count);
    world.allreduce(in, out, weft::sum);
    world.allreduce(in, again, weft::sum);
    expect(std::memcmp(out.data(), again.data(), count * sizeof(double)) == 0, "the same bits again");
    std::vector<double> of_root = out;
    world.bcast(of_root, world.size() - 1);
    expect(std::memcmp(out.data(), of_root.data(), count * sizeof(double)) == 0, "the same bits as the last rank");
    std::vector<double> reduced(count);
    world.reduce(in, reduced, weft::sum, 0);
    if (world.rank() == 0)
      for (std::size_t i = 0; i < count; ++i)
        expect(std::abs(reduced[i] - out[i]) < 1e-12, "reduce and allreduce to agree but for rounding");
  });
}

TEST_CASE("ranks may give an empty output where they are not the root, and see a broadcast as other elements",
          "[results]") {
  const std::size_t count = GENERATE(3, 1001, 10'001);
  run_ranks(3, 1, small_limits(), [&](weft::communicator& world) {
    std::vector<double> in(count, world.rank() + 1);
    std::vector<double> out(world.rank() == 1 ? count : 0);
    world.reduce(in, out, weft::sum, 1);
    for (const double x : out) expect(x == 6, "the sum at the root");

    std::vector<std::byte> bytes(count * sizeof(double));
    if (world.rank() == 1)
      world.bcast(out, 1);
    else
      world.bcast(bytes, 1);
    if (world.rank() != 1)
      for (std::size_t i = 0; i < count; ++i) {
        double x;
        std::memcpy(&x, bytes.data() + i * sizeof x, sizeof x);
        expect(x == 6, "the root's elements, found ", x);
      }
  });
}
