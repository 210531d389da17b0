// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "catch.hpp"
#include "fabric/messenger/message_pool.hpp"

using weft::fabric::message_pool;
using weft::fabric::unexpected_message;
using held = std::vector<std::unique_ptr<unexpected_message>>;

TEST_CASE("a message is used again for one of about its length") {
  message_pool pool;
  auto first = pool.take(100);
  CHECK(first->room >= 100);
  unexpected_message* const known = first.get();
  first->announced = true;
  first->sender_name = 7;
  pool.keep(std::move(first));
  auto shorter = pool.take(40);
  CHECK(shorter.get() != known);
  auto again = pool.take(128);
  CHECK(again.get() == known);
  CHECK_FALSE(again->announced);
  CHECK(again->sender_name == 0);
  CHECK(pool.take(0)->bytes == 0);
  CHECK(pool.take(std::size_t{1} << 20)->room == std::size_t{1} << 20);
}

TEST_CASE("what is reserved is there, beside what is in use") {
  message_pool pool;
  held taken;
  for (int i = 0; i < 20; ++i) taken.push_back(pool.take(1000));
  constexpr std::size_t many = 5000;  // more than are kept otherwise
  for (std::size_t i = 0; i < many; ++i) pool.reserve(1000);
  std::set<unexpected_message*> reserved;
  held all;
  for (std::size_t i = 0; i < many; ++i) {
    all.push_back(pool.take(1000));
    CHECK(all.back()->room == 1024);
    reserved.insert(all.back().get());
  }
  CHECK(reserved.size() == many);
  for (auto& each : all) pool.keep(std::move(each));
  all.clear();
  for (std::size_t i = 0; i < many; ++i) {
    all.push_back(pool.take(1000));
    CHECK(reserved.count(all.back().get()) == 1);  // each was kept
  }
}

TEST_CASE("what is reserved no more is not kept for ever") {
  message_pool pool;
  for (int i = 0; i < 4000; ++i) pool.reserve(4096);
  for (int i = 0; i < 4000; ++i) pool.release(4096);
  held all;
  for (int i = 0; i < 4000; ++i) {
    auto each = std::make_unique<unexpected_message>();
    each->data = std::make_unique<std::byte[]>(4096);
    each->room = 4096;
    each->bytes = 4711;
    pool.keep(std::move(each));
  }
  int kept = 0;
  for (int i = 0; i < 4000; ++i) {
    all.push_back(pool.take(4096));
    kept += all.back()->bytes == 4711 ? 1 : 0;
  }
  CHECK(kept <= 256);
  // Neither is more than about 1 MiB of long ones.
  int long_ones = 0;
  for (int i = 0; i < 100; ++i) {
    auto each = pool.take(128 << 10);
    each->bytes = 815;
    all.push_back(std::move(each));
  }
  for (auto& each : all)
    if (each->bytes == 815) pool.keep(std::move(each));
  for (int i = 0; i < 100; ++i) long_ones += pool.take(128 << 10)->bytes == 815 ? 1 : 0;
  CHECK(long_ones >= 1);
  CHECK(long_ones <= 8);
}

TEST_CASE("what is kept of one length leaves room to keep others") {
  message_pool pool;
  for (int i = 0; i < 1000; ++i) pool.reserve(8192);
  for (int i = 0; i < 1000; ++i) pool.release(8192);
  pool.reserve(1000);
  std::set<unexpected_message*> known;
  for (int run = 0; run < 10; ++run) {
    held all;
    for (int i = 0; i < 5; ++i) all.push_back(pool.take(1000));  // more than are reserved
    for (auto& each : all) known.insert(each.get());
    for (auto& each : all) pool.keep(std::move(each));
  }
  CHECK(known.size() == 5);
}
