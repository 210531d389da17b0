// SPDX-License-Identifier: Apache-2.0
// Boards that several threads take turns with, in one mapping, so that ThreadSanitizer sees all of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <vector>
#include <weft/fabric/arena_rounds.hpp>

namespace weft_test {

namespace fabric = weft::fabric;

/// What the processes of a communicator share.
struct board_table {
  explicit board_table(std::size_t size) : boards(size) {
    for (auto& each : boards) each = std::make_unique<fabric::arena_board>();
  }
  std::vector<fabric::arena_board*> all() const {
    std::vector<fabric::arena_board*> pointers;
    for (const auto& each : boards) pointers.push_back(each.get());
    return pointers;
  }
  std::vector<std::unique_ptr<fabric::arena_board>> boards;
  std::atomic<bool> failed{false};
};

/// Runs `body` for the numbers below `count`, each on a thread of its own, until all have ended.
inline void on_threads(std::size_t count, const std::function<void(std::size_t)>& body) {
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < count; ++i) threads.emplace_back([&, i] { body(i); });
  for (auto& each : threads) each.join();
}

inline std::uint64_t value_of(std::uint64_t round, std::size_t member) { return round * 1000 + member; }

/// One of some rounds that all take: what is awaited, and where the value lies.
struct round_kind {
  enum { all, root_writes, root_reads } flow = all;
  std::size_t root = 0;
  std::size_t in_slot = 0;  ///< bytes, at least two values' worth; 0: in the line
};

/// Takes part; false where something that was read is wrong.
inline bool take_round(fabric::arena_rounds& rounds, const round_kind& what, std::uint64_t number) {
  if (!rounds.begin(number * 17, static_cast<std::uint32_t>(number), what.in_slot)) return false;
  const std::size_t self = rounds.self();
  const auto place = [&](std::size_t member) { return what.in_slot != 0 ? rounds.slot(member) : rounds.line(member); };
  const std::size_t behind = what.in_slot != 0 ? what.in_slot - sizeof(std::uint64_t) : 0;
  const auto right = [&](std::size_t member) {
    if (rounds.await(member) != fabric::arena_rounds::found::here) return false;
    std::uint64_t value = 0;
    for (const std::size_t at : {std::size_t{0}, behind}) {  // both ends
      std::memcpy(&value, place(member) + at, sizeof value);
      if (value != value_of(number, member)) return false;
    }
    return true;
  };
  if (what.flow != round_kind::root_writes || self == what.root) {
    const std::uint64_t mine = value_of(number, self);
    for (const std::size_t at : {std::size_t{0}, behind}) std::memcpy(place(self) + at, &mine, sizeof mine);
  }
  rounds.publish();
  if (what.flow == round_kind::root_writes) {
    const bool good = self == what.root || right(what.root);
    rounds.end();
    return good;
  }
  if (what.flow == round_kind::root_reads && self != what.root) {
    rounds.end();
    return true;
  }
  for (std::size_t i = 0; i < rounds.size(); ++i)
    if (i != self && !right(i)) return false;
  rounds.end_with_all();
  return true;
}

}  // namespace weft_test
