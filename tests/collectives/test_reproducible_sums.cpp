// SPDX-License-Identifier: Apache-2.0
// Reproducible sums over any number of ranks, by every algorithm.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>
#include <span>
#include <vector>

#include "run_ranks.hpp"

using namespace weft_test;

namespace {

constexpr int summing_ranks = 9;

/// One row for each of `summing_ranks` ranks, all magnitudes mixed; fewer ranks share the rows.
template <class T>
std::vector<std::vector<T>> rows(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<T> any(-1, 1);
  std::vector<std::vector<T>> all(summing_ranks, std::vector<T>(count));
  for (auto& row : all)
    for (T& x : row) x = std::ldexp(any(random), static_cast<int>(random() % 60) - 30);
  for (std::size_t i = 0; i < count; i += 7) all[i % summing_ranks][i] = -all[(i + 1) % summing_ranks][i];
  return all;
}

/// What one rank alone gets for the columns.
template <class T>
std::vector<T> column_sums(const std::vector<std::vector<T>>& all, int ranks) {
  std::vector<T> sums(all[0].size());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    weft::reproducible<T> sum;
    for (int r = ranks; r-- > 0;) sum += all[static_cast<std::size_t>(r)][i];
    sums[i] = sum.value();
  }
  return sums;
}

template <class T>
void expect_bits(const std::vector<T>& found, const std::vector<T>& right, const char* what) {
  expect(std::ranges::equal(std::as_bytes(std::span(found)), std::as_bytes(std::span(right))), what, " of ",
         right.size(), " to have the bits of the sum on one rank");
}

template <class T>
void check_elementwise(weft::communicator& world, std::size_t count) {
  const auto all = rows<T>(count, seed_of_this_run());
  const auto& mine = all[static_cast<std::size_t>(world.rank())];
  const auto right = column_sums(all, world.size());
  const int root = world.size() - 1;
  const bool is_root = world.rank() == root;

  std::vector<T> out(count, T(-77));
  world.allreduce(mine, out, weft::reproducible_sum);
  expect_bits(out, right, "allreduce");
  out = mine;
  world.allreduce(out, out, weft::reproducible_sum);
  expect_bits(out, right, "allreduce in place");

  const std::vector<T> untouched(count, T(-77));
  out = untouched;
  world.reduce(mine, out, weft::reproducible_sum, root);
  expect_bits(out, is_root ? right : untouched, "reduce");
  out = mine;
  world.reduce(out, out, weft::reproducible_sum, root);
  expect_bits(out, is_root ? right : mine, "reduce in place");
  std::vector<T> only_root(is_root ? count : 0);
  world.ireduce(mine, only_root, weft::reproducible_sum, root).wait();
  if (is_root) expect_bits(only_root, right, "ireduce");
}

/// However a handle ends, the values are there.
template <class T>
void check_handles(weft::communicator& world, std::size_t count) {
  const auto all = rows<T>(count, seed_of_this_run() + 1);
  const auto& mine = all[static_cast<std::size_t>(world.rank())];
  const auto right = column_sums(all, world.size());
  std::vector<T> waited(count), tested(count), in_time(count), dropped(count);
  auto first = world.iallreduce(mine, waited, weft::reproducible_sum);
  auto second = world.iallreduce(mine, tested, weft::reproducible_sum);
  auto third = world.iallreduce(mine, in_time, weft::reproducible_sum);
  { const auto fourth = world.iallreduce(mine, dropped, weft::reproducible_sum); }
  expect_bits(dropped, right, "iallreduce, dropped");
  while (!second.test()) {
  }
  expect_bits(tested, right, "iallreduce, tested");
  expect(third.wait_until(std::chrono::steady_clock::now() + std::chrono::seconds(50)), "the sum in time");
  expect_bits(in_time, right, "iallreduce, in time");
  first.wait();
  expect_bits(waited, right, "iallreduce, waited for");
}

/// One long sum: the same bits however many ranks share the numbers.
template <class T>
void check_long_sum(weft::communicator& world) {
  const auto all = rows<T>(5'000, seed_of_this_run() + 2);
  weft::reproducible<T> right;
  for (const auto& row : all) right.add(row);
  weft::reproducible<T> sum;
  for (std::size_t r = static_cast<std::size_t>(world.rank()); r < all.size();
       r += static_cast<std::size_t>(world.size()))
    sum.add(all[r]);
  world.allreduce(std::span(&sum, 1), std::span(&sum, 1), weft::sum);
  expect(sum == right && sum.value() == right.value(), "the bits of the sum on one rank");
}

void check_everything(weft::communicator& world) {
  check_long_sum<float>(world);
  check_long_sum<double>(world);
  for (const std::size_t count : {0, 1, 10, 700}) {
    check_elementwise<float>(world, count);
    check_elementwise<double>(world, count);
    check_handles<float>(world, count);
    check_handles<double>(world, count);
  }
}

}  // namespace

TEST_CASE("reproducible sums have the bits of the sum on one rank", "[results]") {
  auto settings = small_limits();
  settings.allreduce = GENERATE("recursive-doubling", "ring", "auto");
  settings.reduce = settings.allreduce == "ring" ? "greedy" : "binomial";
  run_ranks(GENERATE(range(1, summing_ranks + 1)), 1, settings, check_everything);
}

TEST_CASE("reproducible sums among fibers and with a progress thread have the bits of the sum on one rank",
          "[results]") {
  auto settings = small_limits();
  settings.progress = GENERATE(weft::progress_mode::caller, weft::progress_mode::thread);
  run_ranks(2, 4, settings, check_everything);
}

TEST_CASE("a reproducible sum refuses what a sum refuses") {
  run_ranks(2, 1, small_limits(), [](weft::communicator& world) {
    const std::vector<double> in(3);
    std::vector<double> out(2);
    expect_text(expect_error(weft::errc::invalid_argument, [&] { world.allreduce(in, out, weft::reproducible_sum); }),
                "the input has 3 elements, the output 2");
    out.resize(3);
    if (world.rank() == 0) {
      expect_error(weft::errc::mismatched_call, [&] { world.allreduce(in, out, weft::sum); });
    } else {
      expect_text(expect_error(weft::errc::mismatched_call, [&] { world.allreduce(in, out, weft::reproducible_sum); }),
                  "reproducible_double");
    }
  });
}
