// SPDX-License-Identifier: Apache-2.0
// Arrays and containers in the memory of a node, and what becomes of them when their runtime goes.
#include <algorithm>
#include <complex>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "run_ranks.hpp"
#include "sanitized.hpp"

using namespace weft_test;

TEST_CASE("an array owns its elements, is zero at first, and moves", "[node memory]") {
  const auto outcomes = run_processes(small_job(2), [](int, weft::runtime& runtime) {
    for (int i = 0; i < 3; ++i) {  // memory that was in use is taken again
      auto some = runtime.allocate<int>(1000);
      expect(some.size() == 1000 && some.shared(), "1000 shared elements");
      expect(std::ranges::all_of(some, [](int each) { return each == 0; }), "zeros");
      std::iota(some.begin(), some.end(), 1);
      int* const address = some.data();
      weft::node_array<int> moved = std::move(some);
      expect(some.empty() && some.data() == nullptr && !some.shared(), "nothing left behind");
      expect(moved.data() == address && moved[999] == 1000, "the same elements");
      auto other = runtime.allocate<int>(7);
      other = std::move(moved);
      expect(other.data() == address && other.span().size() == 1000, "the elements in the other array");
    }
    const auto none = runtime.allocate<double>(0);
    expect(none.empty() && none.begin() == none.end(), "an empty array");
    expect(reinterpret_cast<std::uintptr_t>(runtime.allocate<char>(3).data()) % 128 == 0, "whole lines");
  });
  for (const auto& each : outcomes) CHECK(text_of(each) == "no error");
}

TEST_CASE("containers lie in node memory, and copies of them do", "[node memory]") {
  using numbers = std::vector<std::complex<double>, weft::node_allocator<std::complex<double>>>;
  const auto outcomes = run_processes(small_job(2), [](int, weft::runtime& runtime) {
    numbers grown(runtime);
    for (int i = 0; i < 10'000; ++i) grown.emplace_back(i, -i);
    numbers copy = grown;
    expect(copy == grown && copy.get_allocator() == grown.get_allocator(), "equal elements of one allocator");
    expect(copy.get_allocator().shares(copy.data()) && copy.data() != grown.data(), "shared memory of its own");
    weft::communicator& world = runtime.world();
    world.allreduce(copy, grown, weft::sum);
    expect(grown[9999] == std::complex<double>(2 * 9999, -2 * 9999), "the sum");
    numbers moved = std::move(grown);
    moved.clear();
    moved.shrink_to_fit();
  });
  for (const auto& each : outcomes) CHECK(text_of(each) == "no error");
}

TEST_CASE("what outlives its runtime stays memory of the process", "[node memory]") {
  const int processes = GENERATE(1, 2);
  std::vector<weft::node_array<int>> arrays(static_cast<std::size_t>(processes));
  std::vector<std::optional<std::vector<int, weft::node_allocator<int>>>> vectors(arrays.size());
  const auto outcomes = run_processes(small_job(processes), [&](int process, weft::runtime& runtime) {
    const auto mine = static_cast<std::size_t>(process);
    arrays[mine] = runtime.allocate<int>(100'000);
    std::ranges::fill(arrays[mine], process + 1);
    vectors[mine].emplace(std::size_t{5}, process, runtime);
  });
  for (const auto& each : outcomes) CHECK(text_of(each) == "no error");
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    CHECK(arrays[i][99'999] == static_cast<int>(i) + 1);
    vectors[i]->resize(50'000, 3);
    CHECK(vectors[i]->front() == static_cast<int>(i));
    CHECK(vectors[i]->back() == 3);
  }
}

TEST_CASE("a buffer of another runtime's memory is a buffer like any", "[node memory]") {
  std::vector<weft::node_array<double>> foreign(2);
  const auto first = run_processes(small_job(2), [&](int process, weft::runtime& runtime) {
    foreign[static_cast<std::size_t>(process)] = runtime.allocate<double>(6000);
  });
  const auto second = run_processes(small_job(2), [&](int process, weft::runtime& runtime) {
    auto& in = foreign[static_cast<std::size_t>(process)];
    auto out = runtime.allocate<double>(6000);
    std::ranges::fill(in, process + 1);
    runtime.world().allreduce(in, out, weft::sum);
    expect(out[5999] == 3, "3, not ", out[5999]);
  });
  for (const auto& each : first) CHECK(text_of(each) == "no error");
  for (const auto& each : second) CHECK(text_of(each) == "no error");
}

TEST_CASE("too many elements are refused", "[node memory]") {
  const auto outcomes = run_processes(small_job(2), [](int, weft::runtime& runtime) {
    std::vector<std::size_t> counts{~std::size_t{0}, ~std::size_t{0} / 8};
    if (!slowed) counts.push_back(std::size_t{1} << 58);  // where they end a program that asks for so much
    for (const std::size_t count : counts) try {
        runtime.allocate<double>(count);
        expect(false, "an exception for ", count, " elements");
      } catch (const std::bad_alloc&) {
      }
  });
  for (const auto& each : outcomes) CHECK(text_of(each) == "no error");
}
