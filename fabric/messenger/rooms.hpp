// The ranks of this process: who has joined, who has left, and what waits for each.
#pragma once

#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <weft/fabric/participant.hpp>

#include "communicator_history.hpp"
#include "room.hpp"
#include "wire.hpp"

namespace weft::fabric {

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
  /// Whether nothing of that rank comes any more, or no message of a collective; `offered` as in group.
  bool is_missed(const room_key& key, std::uint32_t offered, bool collective) const;
  /// Whether that rank was in the communicator, and is no more.
  bool has_left(const room_key& key) const;
  /// Ranks here take part in no collective of the communicator. Throws std::bad_alloc.
  void close(std::uint64_t communicator) { closed_.insert(communicator); }
  void forget_closed(std::uint64_t communicator) noexcept { closed_.erase(communicator); }
  /// The rank did not get the communicator that it would have led by this counter. Throws std::bad_alloc.
  void refuse(std::int32_t rank, std::uint32_t offered) { history_.refuse(offered_key(rank, offered)); }
  bool has_refused(std::int32_t rank, std::uint32_t offered) const {
    return history_.has_refused(offered_key(rank, offered));
  }
  /// All have left.
  void retire() noexcept { retired_ = true; }

  /// Calls it for each rank that has joined and not failed.
  template <class Function>
  void for_each_member(Function&& function) {
    for (auto& [key, each] : rooms_)
      if (each->owner != nullptr && each->owner->failure == nullptr) function(*each->owner);
  }

 private:
  room* find_or_make(const room_key& key);
  static room_key offered_key(std::int32_t rank, std::uint32_t offered) noexcept {
    return {static_cast<std::uint64_t>(rank) << 32 | offered, rank};
  }

  std::unordered_map<room_key, std::unique_ptr<room>, room_hash> rooms_;
  room_key last_key_;
  room* last_room_ = nullptr;  // of last_key_
  communicator_history history_;
  std::unordered_set<std::uint64_t> closed_;  // communicators
  bool retired_ = false;
};

}  // namespace weft::fabric
