#include "message_pool.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace weft::fabric {
namespace {

/// What is kept beside what is reserved: messages of one length, bytes of all.
constexpr std::size_t most_spare = 256;
constexpr std::size_t most_spare_bytes = 1 << 20;

std::unique_ptr<unexpected_message> with_room(std::size_t bytes) {
  auto made = std::make_unique<unexpected_message>();
  made->data = std::make_unique_for_overwrite<std::byte[]>(bytes);
  made->room = bytes;
  return made;
}

}  // namespace

message_pool::message_pool() {
  for (shelf& each : shelves_) each.spare.reserve(most_spare);
}

std::size_t message_pool::shelf_of(std::size_t bytes) noexcept {
  const auto above = static_cast<std::size_t>(std::bit_width((std::max<std::size_t>(bytes, 64) - 1) >> 6));
  return std::min(above, shelves - 1);
}

std::unique_ptr<unexpected_message> message_pool::take(std::size_t bytes) {
  const std::size_t at = shelf_of(bytes);
  shelf& from = shelves_[at];
  if (from.spare.empty()) return with_room(std::max(bytes, room_of(at)));
  auto taken = std::move(from.spare.back());
  from.spare.pop_back();
  spare_bytes_ -= taken->room;
  return taken;
}

void message_pool::keep(std::unique_ptr<unexpected_message> used) noexcept {
  shelf& to = shelves_[shelf_of(used->room)];
  if (to.spare.size() == to.spare.capacity()) return;
  if (to.spare.size() >= to.reserved && spare_bytes_ + used->room > reserved_bytes_ + most_spare_bytes) return;
  used->announced = false;
  used->at_home = nullptr;
  used->sender_name = 0;
  used->poisoned.reset();
  spare_bytes_ += used->room;
  to.spare.push_back(std::move(used));
}

void message_pool::reserve(std::size_t bytes) {
  const std::size_t at = shelf_of(bytes);
  shelf& in = shelves_[at];
  if (in.spare.capacity() < in.reserved + 1 + most_spare) in.spare.reserve(2 * (in.reserved + 1) + most_spare);
  if (in.spare.size() <= in.reserved) {
    auto made = with_room(room_of(at));
    spare_bytes_ += made->room;
    in.spare.push_back(std::move(made));
  }
  ++in.reserved;
  reserved_bytes_ += room_of(at);
}

void message_pool::release(std::size_t bytes) noexcept {
  const std::size_t at = shelf_of(bytes);
  shelf& in = shelves_[at];
  --in.reserved;
  reserved_bytes_ -= room_of(at);
  // What was kept for it alone goes.
  while (in.spare.size() > std::max(in.reserved, most_spare)) {
    spare_bytes_ -= in.spare.back()->room;
    in.spare.pop_back();
  }
}

}  // namespace weft::fabric
