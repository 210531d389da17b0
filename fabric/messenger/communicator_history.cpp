// SPDX-License-Identifier: Apache-2.0
#include "communicator_history.hpp"

#include <algorithm>
#include <new>
#include <weft/fabric/group.hpp>

namespace weft::fabric {
namespace {

std::uint64_t leader_and_rank(const room_key& key) {
  return leader_of(key.communicator) << 32 | static_cast<std::uint32_t>(key.rank);
}

}  // namespace

void communicator_history::join(const room_key& key) {
  joined_.add(key, {});
  std::uint64_t& latest = latest_[leader_and_rank(key)];
  latest = std::max(latest, counter_of(key.communicator));
}

void communicator_history::leave_failed(const room_key& key) noexcept {
  try {
    left_failed_.add(key, {});
  } catch (const std::bad_alloc&) {  // then the others are told that it gave up what they ask for
  }
}

void communicator_history::miss_from(std::uint64_t communicator, std::uint32_t number) noexcept {
  try {
    missing_.add(communicator, number);
  } catch (const std::bad_alloc&) {  // then who waits is told when the others leave, too
  }
}

bool communicator_history::is_behind(const room_key& key) const {
  const auto latest = latest_.find(leader_and_rank(key));
  return latest != latest_.end() && counter_of(key.communicator) <= latest->second;
}

bool communicator_history::has_passed(const room_key& key) const {
  return is_behind(key) && (!dividing_.contains(key.rank) || joined_.find(key) != nullptr);
}

bool communicator_history::end_division(std::int32_t rank) noexcept {
  const auto found = dividing_.find(rank);
  if (--found->second != 0) return false;
  dividing_.erase(found);
  return true;
}

}  // namespace weft::fabric
