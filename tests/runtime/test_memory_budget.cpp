// SPDX-License-Identifier: Apache-2.0
// What may be taken of a limit, by whom, and what is said where that is too much.
#include <atomic>
#include <memory>
#include <thread>
#include <utility>
#include <vector>
#include <weft/runtime/error.hpp>
#include <weft/runtime/memory_budget.hpp>

#include "catch.hpp"

using weft::memory_budget;
using weft::memory_charge;
using weft::memory_use;
using namespace weft_test;

namespace {

std::shared_ptr<memory_budget> limited_to(std::size_t bytes) {
  auto made = std::make_shared<memory_budget>(bytes);
  made->begin_to_limit();
  return made;
}

}  // namespace

TEST_CASE("memory is taken up to the part of the limit that its use may have") {
  memory_budget of(1000);
  of.begin_to_limit();
  CHECK_FALSE(of.try_take(501, memory_use::spare));
  CHECK(of.try_take(499, memory_use::spare));
  CHECK_FALSE(of.is_scarce());
  CHECK(of.try_take(1, memory_use::spare));
  CHECK(of.is_scarce());
  CHECK_FALSE(of.try_take(1, memory_use::spare));
  CHECK_FALSE(of.try_take(376, memory_use::call));
  CHECK(of.try_take(375, memory_use::call));
  CHECK_FALSE(of.try_take(126, memory_use::arrival));
  CHECK_FALSE(of.try_take(SIZE_MAX, memory_use::arrival));
  CHECK(of.try_take(125, memory_use::arrival));
  CHECK(of.taken() == 1000);
  of.give_back(600);
  CHECK_FALSE(of.is_scarce());
  CHECK(of.taken() == 400);
  CHECK(of.most_taken() == 1000);
}

TEST_CASE("without a limit, and before it holds, memory is only counted") {
  memory_budget none;
  none.begin_to_limit();
  memory_budget early(10);
  for (memory_budget* const of : {&none, &early}) {
    CHECK(of->try_take(std::size_t{1} << 40, memory_use::spare));
    CHECK(of->taken() == std::size_t{1} << 40);
  }
  CHECK_FALSE(none.is_scarce());
}

TEST_CASE("what is too much says what it is for, what is left, and the option") {
  const auto of = limited_to(1000);
  const memory_charge some(of, 300, "something");
  try {
    const memory_charge more(of, 700, "a stack");
    FAIL("it has been taken");
  } catch (const weft::error& refused) {
    CHECK(refused.code() == weft::errc::out_of_memory);
    CHECK(std::string(refused.what()) ==
          "a stack takes 700 bytes, where 575 beside 125 that are kept for what others send are left of the 1000 that "
          "weft may take in this process (--weft-memory-limit, WEFT_MEMORY_LIMIT)");
  }
  CHECK(of->taken() == 300);
}

TEST_CASE("a charge is given back once, wherever it has gone") {
  const auto of = limited_to(1000);
  {
    memory_charge first(of, 100, "it"), second(of, 50, "it");
    memory_charge moved(std::move(first));
    CHECK(of->taken() == 150);
    second = std::move(moved);
    moved = {};
    CHECK(of->taken() == 100);
    second.grow(30, "it");
    CHECK_FALSE(second.try_grow(500, memory_use::spare));
    CHECK(second.bytes() == 130);
    second.shrink(20);
    CHECK(of->taken() == 110);
    auto third = memory_charge::attempt(of, 5, memory_use::spare);
    REQUIRE(third);
    CHECK(of->taken() == 115);
    CHECK_FALSE(memory_charge::attempt(of, 1000, memory_use::arrival));
  }
  CHECK(of->taken() == 0);
  CHECK(memory_charge(nullptr, 1000, "uncounted").bytes() == 1000);
}

TEST_CASE("threads take no more than the limit together") {
  const auto of = limited_to(1 << 20);
  std::atomic<bool> too_much{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 20000; ++i) {
        const auto one = memory_charge::attempt(of, (1 << 18) + 1, memory_use::arrival);
        if (of->taken() > of->limit()) too_much = true;
      }
    });
  for (auto& each : threads) each.join();
  CHECK_FALSE(too_much);
  CHECK(of->most_taken() <= of->limit());
  CHECK(of->taken() == 0);
}
