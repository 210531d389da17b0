// SPDX-License-Identifier: Apache-2.0
// Many vectors combined where they lie.
#include <cstring>
#include <random>
#include <vector>
#include <weft/request.hpp>
#include <weft/request/combine_inputs.hpp>

#include "run_ranks.hpp"

using namespace weft_test;
using weft::detail::array_operator;

namespace {

/// Strings of up to a few digits: joining them is associative and shows the order.
struct digits {
  std::uint64_t value = 0, scale = 1;
  friend bool operator==(const digits&, const digits&) = default;
};
digits joined(const digits& left, const digits& right) {
  return {left.value * right.scale + right.value, left.scale * right.scale};
}

const auto join = weft::make_operator<digits>(
    [](const digits* in, digits* inout, std::size_t n) {
      for (std::size_t i = 0; i < n; ++i) inout[i] = joined(in[i], inout[i]);
    },
    weft::does_not_commute);

array_operator joining() {
  weft::detail::request call;
  call.combine_by(weft::detail::erased(join));
  call.element_bytes = sizeof(digits);
  return array_operator(call);
}

struct arrays {
  arrays(std::size_t inputs, std::size_t count) : all(inputs, std::vector<digits>(count)), right(count) {
    std::mt19937_64 random(seed_of_this_run());
    for (auto& each : all)
      for (std::size_t i = 0; i < count; ++i) {
        each[i] = {random() % 10, 10};
        right[i] = joined(right[i], each[i]);
      }
    for (auto& each : all) {
      in.push_back(reinterpret_cast<const std::byte*>(each.data()));
      out.push_back(reinterpret_cast<std::byte*>(each.data()));
    }
  }
  std::vector<std::vector<digits>> all;
  std::vector<digits> right;
  std::vector<const std::byte*> in;
  std::vector<std::byte*> out;
};

}  // namespace

TEST_CASE("any number of vectors combine in their order, wherever the result goes") {
  const array_operator by = joining();
  for (const std::size_t inputs : {1, 2, 3, 15, 16, 17, 30, 31, 32, 33, 100})
    for (const std::size_t count : {1, 511, 512, 513, 1500})
      for (const std::size_t target : {std::size_t{0}, inputs / 2, inputs - 1, inputs}) {
        CAPTURE(inputs, count, target, seed_of_this_run());
        arrays a(inputs, count);
        std::vector<digits> apart(count);
        std::byte* const into = target == inputs ? reinterpret_cast<std::byte*>(apart.data()) : a.out[target];
        const std::size_t half = count / 2;
        // The second half first: shares are combined in any order.
        weft::detail::combine_inputs(by, a.in, half, count - half, into + half * sizeof(digits), a.out);
        weft::detail::combine_inputs(by, a.in, 0, half, into, {});
        CHECK((target == inputs ? apart : a.all[target]) == a.right);
        for (const auto& other : a.all) CHECK(std::equal(other.begin() + half, other.end(), a.right.begin() + half));
      }
}

TEST_CASE("vectors combine by a kernel to the same bits in shares as at once") {
  weft::detail::request call;
  call.type = weft::kernels::type::float64;
  call.element_bytes = sizeof(double);
  const array_operator by(call);
  std::mt19937_64 random(seed_of_this_run());
  std::uniform_real_distribution<double> any(-1, 1);
  const std::size_t inputs = GENERATE(2, 16, 40), count = 3000;
  std::vector<std::vector<double>> all(inputs, std::vector<double>(count));
  std::vector<const std::byte*> in;
  for (auto& each : all) {
    for (double& x : each) x = any(random);
    in.push_back(reinterpret_cast<const std::byte*>(each.data()));
  }
  std::vector<double> whole(count), shares(count);
  weft::detail::combine_inputs(by, in, 0, count, reinterpret_cast<std::byte*>(whole.data()), {});
  for (std::size_t first = 0; first < count;) {
    const std::size_t some = std::min(count - first, std::size_t{1 + random() % 700});
    weft::detail::combine_inputs(by, in, first, some, reinterpret_cast<std::byte*>(shares.data() + first), {});
    first += some;
  }
  CHECK(whole == shares);
  for (std::size_t i = 0; i < count; i += 97) {
    double sum = 0;
    for (const auto& each : all) sum += each[i];
    CHECK(std::abs(whole[i] - sum) < 1e-12);
  }
}
