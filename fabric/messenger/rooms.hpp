// SPDX-License-Identifier: Apache-2.0
// The ranks of this process: who has joined, who has left, and what waits for each.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>
#include <weft/fabric/collective_sequence.hpp>
#include <weft/fabric/participant.hpp>

#include "communicator_history.hpp"
#include "room.hpp"
#include "wire.hpp"

namespace weft::fabric {

/// What of a rank never comes any more: everything, or what is of collectives from a number on.
struct absence {
  std::optional<std::uint32_t> since;

  /// Whether a message of this space and tag is among that.
  bool includes(space where, std::uint64_t tag) const noexcept {
    if (!since) return true;
    const auto sequence = static_cast<std::uint32_t>(tag >> 32);
    // Those of plans are in no order with others.
    return where == space::collective && sequence < sequence_of_plan &&
           ((sequence - *since) & last_sequence) <= last_sequence / 2;
  }
};

class rooms {
 public:
  rooms() = default;
  /// No operation of a rank that is still here is touched any more.
  ~rooms();

  /// What waits for that rank; comes to be when it is first asked for. Null when the rank has left. Throws
  /// std::bad_alloc.
  room* find(const room_key& key) { return last_room_ != nullptr && last_key_ == key ? last_room_ : find_or_make(key); }

  /// With the failure of its communicator, where that has failed. Throws errc::invalid_argument where it has left.
  void join(participant& member);
  /// `alone`: the other ranks do not hear by themselves of what it failed with, if it did.
  void leave(participant& member, bool alone) noexcept;

  /// The communicator has failed: for ranks that join it later. Throws std::bad_alloc.
  void fail(std::uint64_t communicator, std::exception_ptr why) { history_.fail(communicator, std::move(why)); }
  bool has_failed(std::uint64_t communicator) const { return history_.failure_of(communicator) != nullptr; }
  /// Why that rank takes part in nothing any more.
  stopped why_stopped(const room_key& key) const;
  /// What of that rank never comes any more; `offered` as in group.
  std::optional<absence> absence_of(const room_key& key, std::uint64_t offered) const;
  /// Whether that rank takes part in no agreement any more.
  bool agrees_no_more(const room_key& key, std::uint64_t offered) const;
  /// The same of that rank in all its communicators from now on.
  void agree_no_more(std::int32_t rank) noexcept;
  /// Whether that rank was in the communicator, and is no more.
  bool has_left(const room_key& key) const;
  /// Whether that rank, which may have left it since, has failed in a way that all the members are told of.
  bool has_failed_for_all(const room_key& key) const;
  /// The members of a communicator that some rank of this process is in; null: none is, as yet or any more.
  std::shared_ptr<const group> members_of(std::uint64_t communicator) const;
  /// The rank did not get the communicator that it would have led by this counter. Throws std::bad_alloc.
  void refuse(std::int32_t rank, std::uint64_t offered) { history_.refuse(offered_key(rank, offered)); }
  bool has_refused(std::int32_t rank, std::uint64_t offered) const {
    return history_.has_refused(offered_key(rank, offered));
  }
  /// That rank divides a communicator from now on. Throws std::bad_alloc.
  void begin_division(std::int32_t rank) { history_.begin_division(rank); }
  /// No more: calls `drop` with each room that has come to be since it might have been of one that it has not joined,
  /// and is of one that it has passed.
  template <class Drop>
  void end_division(std::int32_t rank, Drop&& drop) {
    if (!history_.end_division(rank)) return;
    std::erase_if(doubtful_, [&](const room_key& key) {
      if (key.rank != rank) return false;
      if (const auto found = rooms_.find(key); found != rooms_.end() && found->second->owner == nullptr) {
        drop(*found->second);
        rooms_.erase(found);
        last_room_ = nullptr;
      }
      return true;
    });
  }
  /// All have left but that communicator.
  void retire(std::uint64_t but) noexcept { retired_but_ = but; }

  /// Calls it for each rank that has joined and not failed.
  template <class Function>
  void for_each_member(Function&& function) {
    for (auto& [key, each] : rooms_)
      if (each->owner != nullptr && each->owner->failure == nullptr) function(*each->owner);
  }

 private:
  [[gnu::noinline]] room* find_or_make(const room_key& key);
  static room_key offered_key(std::int32_t rank, std::uint64_t offered) noexcept {
    return {communicator_id(static_cast<std::uint64_t>(rank), offered), rank};
  }

  std::unordered_map<room_key, std::unique_ptr<room>, room_hash> rooms_;
  room_key last_key_;
  room* last_room_ = nullptr;  // of last_key_
  communicator_history history_;
  std::vector<room_key> doubtful_;  ///< see end_division()
  std::optional<std::uint64_t> retired_but_;
};

}  // namespace weft::fabric
