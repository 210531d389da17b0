// SPDX-License-Identifier: Apache-2.0
// What a process remembers of communicators that are no more: a bounded amount, however many there were.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <unordered_map>
#include <utility>

namespace weft::fabric {

/// One rank of one communicator.
struct room_key {
  std::uint64_t communicator = 0;
  std::int32_t rank = 0;  ///< of the world
  friend bool operator==(const room_key&, const room_key&) = default;
};
struct room_hash {
  std::size_t operator()(const room_key& key) const noexcept {
    const std::uint64_t mixed =
        key.communicator * 0x9e3779b97f4a7c15u + static_cast<std::uint32_t>(key.rank) * 0xc2b2ae3d27d4eb4fu;
    return static_cast<std::size_t>(mixed ^ (mixed >> 32));
  }
};

/// The latest entries of a map: with one more than `most` the oldest goes.
template <class Key, class Value, class Hash = std::hash<Key>>
class latest_entries {
 public:
  explicit latest_entries(std::size_t most) : most_(most) {}

  const Value* find(const Key& key) const {
    const auto found = entries_.find(key);
    return found == entries_.end() ? nullptr : &found->second;
  }
  /// Leaves an entry of that key as it is. Throws std::bad_alloc, and then has changed nothing.
  void add(const Key& key, Value value) {
    const auto [entry, is_new] = entries_.try_emplace(key, std::move(value));
    if (!is_new) return;
    try {
      order_.push_back(key);
    } catch (...) {
      entries_.erase(entry);
      throw;
    }
    if (order_.size() <= most_) return;
    entries_.erase(order_.front());
    order_.pop_front();
  }

 private:
  std::size_t most_;
  std::unordered_map<Key, Value, Hash> entries_;
  std::deque<Key> order_;
};

/// An id is its leader's rank in the world and the leader's counter (group.hpp). A rank begins to divide before
/// anybody can get the communicator, so where it divides nothing now it joins none any more that is earlier than the
/// latest of the same leader: it is enough to know that, and which ranks are in a communicator now (which the engine
/// knows). Where it divides several at a time, it joins them in any order: then the latest joins of this process are
/// known one by one. The order in which they are left does not matter.
class communicator_history {
 public:
  /// Failures beyond these are forgotten, the oldest first: enough that nothing on its way still asks for one.
  static constexpr std::size_t failures_kept = 1024;

  /// Joins beyond these are forgotten while ranks divide.
  static constexpr std::size_t joins_kept = 1024;

  void join(const room_key& key);
  /// Whether the rank joined this communicator, or would have done so before it joined a later one of the same leader.
  /// Where it is not in it now, it never will be. False where that is not known, as it divides a communicator.
  bool has_passed(const room_key& key) const;
  /// Whether the rank joined this communicator, or one of the same leader that came later.
  bool is_behind(const room_key& key) const;

  /// That rank of the world, of this process, divides a communicator from now on.
  void begin_division(std::int32_t rank) { ++dividing_[rank]; }
  /// No more. Whether that was the last.
  bool end_division(std::int32_t rank) noexcept;

  /// The communicator has failed: for ranks that join it later.
  void fail(std::uint64_t communicator, std::exception_ptr why) { failed_.add(communicator, std::move(why)); }
  /// Null where it has not.
  const std::exception_ptr* failure_of(std::uint64_t communicator) const { return failed_.find(communicator); }

  /// The rank leaves the communicator after a failure of which the other ranks hear by themselves. Without memory that
  /// is not remembered.
  void leave_failed(const room_key& key) noexcept;
  bool has_left_failed(const room_key& key) const { return left_failed_.find(key) != nullptr; }

  /// Collectives of the communicator from that number on are missing a rank of this process; the first call counts.
  /// Without memory that is not remembered.
  void miss_from(std::uint64_t communicator, std::uint32_t number) noexcept;
  /// Null where no rank of this process has left it, or long ago.
  const std::uint32_t* missing_since(std::uint64_t communicator) const { return missing_.find(communicator); }

  /// The rank did not get the communicator that others may have: the latest of those. Throws std::bad_alloc.
  void refuse(const room_key& key) { refused_.add(key, {}); }
  bool has_refused(const room_key& key) const { return refused_.find(key) != nullptr; }

 private:
  struct nothing {};

  std::unordered_map<std::uint64_t, std::uint64_t> latest_;  ///< counter, by leader and rank
  std::unordered_map<std::int32_t, int> dividing_;           ///< how many, of ranks that do
  latest_entries<room_key, nothing, room_hash> joined_{joins_kept};
  latest_entries<std::uint64_t, std::exception_ptr> failed_{failures_kept};
  latest_entries<room_key, nothing, room_hash> left_failed_{failures_kept};
  latest_entries<room_key, nothing, room_hash> refused_{failures_kept};
  latest_entries<std::uint64_t, std::uint32_t> missing_{failures_kept};
};

}  // namespace weft::fabric
