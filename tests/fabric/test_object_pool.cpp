// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"
#include "fabric/failing_allocation.hpp"
#include "fabric/messenger/message_pool.hpp"
#include "fabric/messenger/object_pool.hpp"
#include "fabric/messenger/transfer_slots.hpp"

using namespace weft_test;

namespace {

/// Tells how many of it there are: an object's bytes are not the same each time, since an allocation may get some more
/// than it asks for.
struct counted {
  explicit counted(std::size_t its_length) : length(its_length) { ++there; }
  ~counted() { --there; }
  counted(const counted&) = delete;
  counted& operator=(const counted&) = delete;
  std::size_t length;
  static inline int there = 0;
};
using counted_pool = weft::fabric::object_pool<counted>;

/// Takes so many at a time and gives them back. How many more there are than before.
int use(counted_pool& pool, std::size_t many) {
  const int before = counted::there;
  {
    std::vector<std::unique_ptr<counted>> taken;
    for (std::size_t i = 0; i < many; ++i) taken.push_back(pool.take(std::size_t{7}));
    for (auto& each : taken) {
      CHECK(each->length == 7);
      pool.keep(std::move(each));
    }
  }
  return counted::there - before;
}

}  // namespace

TEST_CASE("objects are used again") {
  counted_pool pool;
  CHECK(use(pool, 500) == 500);
  for (int again = 0; again < 3; ++again) CHECK(use(pool, 500) == 0);
}

TEST_CASE("of many objects that were used at a time a few are kept") {
  counted_pool pool;
  CHECK(use(pool, 5000) == 512);
  CHECK(use(pool, 5000) == 0);
}

TEST_CASE("reserved objects are there, and are deleted when they are no longer needed") {
  counted_pool pool;
  const int before = counted::there;
  pool.reserve(3000, std::size_t{7});
  CHECK(counted::there - before == 3000);
  CHECK(use(pool, 3000) == 0);
  pool.reserve(2000, std::size_t{7});  // are there already
  CHECK(use(pool, 3000) == 0);
  pool.trim(2000);
  CHECK(use(pool, 2000) == 0);
  CHECK(use(pool, 2001) == 0);  // one more is made, and not kept
  pool.trim(0);
  CHECK(counted::there - before == 64);
}

TEST_CASE("of transfers and early messages of each length about 64 KiB are kept, or a few") {
  using namespace weft::fabric;
  const std::size_t length = GENERATE(0, 64, 1'000, 8'000, 60'000);
  constexpr int many = 400;
  // With what an object takes itself, and lengths rounded up.
  const auto most = static_cast<std::int64_t>(std::max<std::size_t>(128 << 10, 9 * 2 * length));
  transfer_slots slots;
  message_pool messages;
  const std::int64_t before = bytes_in_use();
  {
    std::vector<transfer_slot*> flying;
    for (int i = 0; i < many; ++i) flying.push_back(slots.try_take(transfer_slot::purpose::frame, nullptr, 0, length));
    for (transfer_slot* const each : flying) slots.give_back(*each);
  }
  const std::int64_t of_slots = bytes_in_use() - before;
  CHECK(of_slots < most);
  {
    std::vector<std::unique_ptr<unexpected_message>> early;
    for (int i = 0; i < many; ++i) early.push_back(messages.take(length));
    for (auto& each : early) messages.keep(std::move(each));
  }
  CHECK(bytes_in_use() - before - of_slots < most);
}

TEST_CASE("no object of a pool comes into being without memory") {
  counted_pool pool;
  for (int number = 0; number < 10; ++number) {
    allocation_faults::here() = {number, 1, 0, 0};
    try {
      pool.reserve(40, std::size_t{7});
    } catch (const std::bad_alloc&) {
    }
    allocation_faults::here() = {};
  }
  pool.reserve(40, std::size_t{7});
  CHECK(use(pool, 40) == 0);
}
