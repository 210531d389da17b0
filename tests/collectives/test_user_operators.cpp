// SPDX-License-Identifier: Apache-2.0
// Reductions by operators of the caller's.
#include <algorithm>
#include <array>
#include <complex>

#include "run_ranks.hpp"

using namespace weft_test;

namespace {

/// A row of letters: joining does not commute, and shows the order. Longer than any job has ranks.
struct word {
  std::array<char, 23> letters{};
  std::uint8_t length = 0;

  static word of(int rank) {
    word one;
    one.letters[0] = static_cast<char>('a' + rank);
    one.length = 1;
    return one;
  }
  std::string text() const { return {letters.data(), length}; }
};

void join(const word* in, word* inout, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    word joined = in[i];
    std::copy_n(inout[i].letters.begin(), inout[i].length, joined.letters.begin() + joined.length);
    joined.length = static_cast<std::uint8_t>(joined.length + inout[i].length);
    inout[i] = joined;
  }
}

/// 2 x 2 matrices modulo 2^32.
struct matrix {
  std::array<std::uint32_t, 4> m{1, 0, 0, 1};
  friend bool operator==(const matrix&, const matrix&) = default;
};

matrix times(const matrix& a, const matrix& b) {
  return {{a.m[0] * b.m[0] + a.m[1] * b.m[2], a.m[0] * b.m[1] + a.m[1] * b.m[3], a.m[2] * b.m[0] + a.m[3] * b.m[2],
           a.m[2] * b.m[1] + a.m[3] * b.m[3]}};
}

void multiply(const matrix* in, matrix* inout, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) inout[i] = times(in[i], inout[i]);
}

matrix matrix_of(int rank, std::size_t i) {
  const auto r = static_cast<std::uint32_t>(rank), j = static_cast<std::uint32_t>(i);
  return {{r + 2, 3 * r + j, j + 1, 5 * r + 7}};
}

matrix product_of_all(int ranks, std::size_t i) {
  matrix all;
  for (int r = 0; r < ranks; ++r) all = times(all, matrix_of(r, i));
  return all;
}

std::vector<matrix> matrices_of(int rank, std::size_t count) {
  std::vector<matrix> mine(count);
  for (std::size_t i = 0; i < count; ++i) mine[i] = matrix_of(rank, i);
  return mine;
}

void expect_product(const std::vector<matrix>& found, int ranks, const char* what) {
  for (std::size_t i = 0; i < found.size(); ++i)
    expect(found[i] == product_of_all(ranks, i), what, ": the product of all ranks in their order, element ", i);
}

weft::options settings_with(const char* allreduce, const char* reduce) {
  auto settings = small_limits();
  settings.allreduce = allreduce;
  settings.reduce = reduce;
  return settings;
}

}  // namespace

TEST_CASE("an operator that does not commute is applied in the order of the ranks", "[results]") {
  const int ranks = GENERATE(range(1, 10));
  const auto settings = GENERATE(settings_with("ring", "greedy"), settings_with("recursive_doubling", "binomial"));
  run_ranks(ranks, 1, settings, [](weft::communicator& world) {
    const auto joined = weft::make_operator<word>(join, weft::does_not_commute);
    const auto multiplied = weft::make_operator<matrix>(multiply, weft::does_not_commute);
    std::string alphabet;
    for (int r = 0; r < world.size(); ++r) alphabet += static_cast<char>('a' + r);
    for (const std::size_t count : {0, 1, 3, 1500}) {
      const std::vector<word> mine(count, word::of(world.rank()));
      std::vector<word> words(count);
      world.allreduce(mine, words, joined);
      for (const word& each : words) expect(each.text() == alphabet, "allreduce: ", alphabet, ", found ", each.text());
      for (int root = 0; root < world.size(); ++root) {
        std::vector<word> at_root(world.rank() == root ? count : 0);
        world.reduce(mine, at_root, joined, root);
        for (const word& each : at_root)
          expect(each.text() == alphabet, "reduce to ", root, ": ", alphabet, ", found ", each.text());

        std::vector<matrix> in_place = matrices_of(world.rank(), count);
        world.reduce(in_place, in_place, multiplied, root);
        if (world.rank() == root) expect_product(in_place, world.size(), "reduce in place");
        if (world.rank() != root)
          expect(in_place == matrices_of(world.rank(), count), "the input of another rank to stay");
      }
      std::vector<matrix> in_place = matrices_of(world.rank(), count);
      world.allreduce(in_place, in_place, multiplied);
      expect_product(in_place, world.size(), "allreduce in place");
    }
  });
}

TEST_CASE("an operator that commutes takes every algorithm", "[results]") {
  const auto settings = GENERATE(settings_with("ring", "greedy"), settings_with("recursive_doubling", "binomial"));
  const int ranks = GENERATE(1, 2, 3, 5, 8);
  run_ranks(ranks, 1, settings, [](weft::communicator& world) {
    // Modulo a number that is known when the program runs: a capture.
    const std::uint64_t modulus = 1'000'003;
    const auto product = weft::make_operator<std::uint64_t>(
        [modulus](const std::uint64_t* in, std::uint64_t* inout, std::size_t count) {
          for (std::size_t i = 0; i < count; ++i) inout[i] = inout[i] * in[i] % modulus;
        },
        weft::commutes);
    for (const std::size_t count : {1, 7, 5000}) {
      std::vector<std::uint64_t> mine(count), all(count), right(count, 1);
      for (std::size_t i = 0; i < count; ++i) {
        mine[i] = i + 2 + static_cast<std::uint64_t>(world.rank());
        for (int r = 0; r < world.size(); ++r) right[i] = right[i] * (i + 2 + static_cast<std::uint64_t>(r)) % modulus;
      }
      world.allreduce(mine, all, product);
      expect(all == right, "the product of all");
      const int root = world.size() - 1;
      std::vector<std::uint64_t> at_root(count);
      world.reduce(mine, at_root, product, root);
      expect(world.rank() != root || at_root == right, "the product at the root");
    }
  });
}

TEST_CASE("ranks of one process and a progress thread combine by the caller's operator", "[results]") {
  job what;
  what.processes = 2;
  what.ranks_per_process = 3;
  what.settings = small_limits();
  what.settings.progress = GENERATE(weft::progress_mode::caller, weft::progress_mode::thread);
  run_ranks(what, [](weft::communicator& world) {
    std::vector<matrix> all = matrices_of(world.rank(), 700);
    world.allreduce(all, all, weft::make_operator<matrix>(multiply, weft::does_not_commute));
    expect_product(all, world.size(), "allreduce");
  });
}

TEST_CASE("a started collective keeps a copy of its operator", "[handles]") {
  run_ranks(3, 1, small_limits(), [](weft::communicator& world) {
    std::vector<int> sums[2] = {std::vector<int>(900, world.rank()), std::vector<int>(900, world.rank())};
    std::vector<weft::handle> running;
    for (int i = 0; i < 2; ++i) {
      const std::vector<int> more{10 + i};  // on the heap, and gone before the collective has ended
      const auto op = weft::make_operator<int>(
          [more](const int* in, int* inout, std::size_t count) {
            for (std::size_t k = 0; k < count; ++k) inout[k] += in[k] + more[0];
          },
          weft::commutes);
      running.push_back(world.iallreduce(sums[i], sums[i], op));
    }
    std::vector<int> ones(900, 1), at_root(900);
    running.push_back(world.ireduce(ones, at_root, weft::sum, 2));
    weft::wait_all(running);
    for (int i = 0; i < 2; ++i)
      for (const int x : sums[i]) expect(x == 3 + 2 * (10 + i), "the sum of three ranks, found ", x);
  });
}

TEST_CASE("ranks whose operators differ in kind are told", "[mismatches]") {
  run_ranks(2, 1, small_limits(), [](weft::communicator& world) {
    auto inner = world.dup();
    std::vector<matrix> data(3);
    const auto order = inner.rank() == 0 ? weft::commutes : weft::does_not_commute;
    const auto text = expect_error(weft::errc::mismatched_call, [&] {
      inner.allreduce(data, data, weft::make_operator<matrix>(multiply, order));
      inner.barrier();
      inner.barrier();
    });
    expect_text(text, "allreduce(an operator of the caller's that commutes, elements of 16 bytes, count 3");
    expect_text(text, "allreduce(an operator of the caller's that does not commute, elements of 16 bytes, count 3");
    world.barrier();
  });
}

TEST_CASE("an operator that is chosen at run time is refused where the elements do not have it", "[arguments]") {
  run_ranks(2, 1, small_limits(), [](weft::communicator& world) {
    std::vector<std::complex<float>> data(3);
    const weft::reduction_operator op(weft::kernels::operation::max);
    const auto text = expect_error(weft::errc::invalid_operator, [&] { world.allreduce(data, data, op); });
    expect_text(text, "max does not exist on complex_float: complex_float has sum, product");
    world.barrier();
  });
}

static_assert(weft::combines<std::remove_const_t<decltype(weft::sum)>, std::complex<double>>);
static_assert(!weft::combines<std::remove_const_t<decltype(weft::max)>, std::complex<double>>);
static_assert(!weft::combines<std::remove_const_t<decltype(weft::bit_and)>, double>);
static_assert(weft::combines<weft::reduction_operator, double> && !weft::combines<weft::reduction_operator, word>);
