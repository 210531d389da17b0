// SPDX-License-Identifier: Apache-2.0
#include "message_pool.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace weft::fabric {
namespace {

/// So many messages of a length are kept beside those that are reserved: few, so that what is kept is soon all that
/// there ever will be.
constexpr std::size_t most_spare(std::size_t room) noexcept {
  return std::clamp<std::size_t>((64 << 10) / room, 8, 64);
}

}  // namespace

message_pool::message_pool(std::shared_ptr<memory_budget> memory) : memory_(std::move(memory)) {
  for (std::size_t i = 0; i < shelves; ++i) shelves_[i].spare.reserve(most_spare(room_of(i)));
}

std::unique_ptr<unexpected_message> message_pool::with_room(std::size_t bytes, memory_use use) const {
  memory_charge charge(memory_, sizeof(unexpected_message) + bytes, "a message that waits for its receive", use);
  auto made = std::make_unique<unexpected_message>();
  made->data = std::make_unique_for_overwrite<std::byte[]>(bytes);
  made->room = bytes;
  made->charge = std::move(charge);
  return made;
}

std::size_t message_pool::shelf_of(std::size_t bytes) noexcept {
  const auto above = static_cast<std::size_t>(std::bit_width((std::max<std::size_t>(bytes, 64) - 1) >> 6));
  return std::min(above, shelves - 1);
}

std::unique_ptr<unexpected_message> message_pool::take(std::size_t bytes) {
  const std::size_t at = shelf_of(bytes);
  shelf& from = shelves_[at];
  if (from.spare.empty()) return with_room(std::max(bytes, room_of(at)), memory_use::arrival);
  auto taken = std::move(from.spare.back());
  from.spare.pop_back();
  return taken;
}

void message_pool::keep(std::unique_ptr<unexpected_message> used) noexcept {
  const std::size_t at = shelf_of(used->room);
  shelf& to = shelves_[at];
  if (to.spare.size() == to.reserved + most_spare(room_of(at))) return;
  used->announced = false;
  used->at_home = nullptr;
  used->sender_name = 0;
  used->poisoned.reset();
  to.spare.push_back(std::move(used));
}

void message_pool::reserve(std::size_t bytes) {
  const std::size_t at = shelf_of(bytes);
  shelf& in = shelves_[at];
  const std::size_t all = in.reserved + 1 + most_spare(room_of(at));
  if (in.spare.capacity() < all) in.spare.reserve(all + in.reserved);
  if (in.spare.size() <= in.reserved) in.spare.push_back(with_room(room_of(at), memory_use::call));
  ++in.reserved;
}

void message_pool::release(std::size_t bytes) noexcept {
  const std::size_t at = shelf_of(bytes);
  shelf& in = shelves_[at];
  --in.reserved;
  if (in.spare.size() > in.reserved + most_spare(room_of(at))) in.spare.pop_back();  // was kept for it alone
}

}  // namespace weft::fabric
