// SPDX-License-Identifier: Apache-2.0
#include "transfer_slots.hpp"

#include <algorithm>
#include <bit>
#include <exception>
#include <memory>
#include <utility>

namespace weft::fabric {
namespace {

constexpr std::size_t room_of(std::size_t length_class) noexcept {
  return length_class == 0 ? 0 : std::size_t{32} << length_class;
}

/// Of those that are not reserved so many are kept: what is kept is soon all that there ever will be, and no more
/// than 64 KiB, or 8.
constexpr std::size_t most_kept(std::size_t room) noexcept {
  return room == 0 ? 64 : std::clamp<std::size_t>((64 << 10) / room, 8, 64);
}

}  // namespace

transfer_slots::transfer_slots(std::shared_ptr<memory_budget> memory) : memory_(std::move(memory)) {
  for (std::size_t i = 0; i < std::tuple_size_v<counts>; ++i) spare_.emplace_back(most_kept(room_of(i)));
}

std::size_t transfer_slots::length_class(std::size_t frame_bytes) noexcept {
  if (frame_bytes == 0) return 0;
  return std::min(static_cast<std::size_t>(std::bit_width((frame_bytes - 1) >> 6)) + 1, std::tuple_size_v<counts> - 1);
}

transfer_slots::~transfer_slots() { flying_.clear_and_dispose(std::default_delete<transfer_slot>()); }

transfer_slot* transfer_slots::try_take(transfer_slot::purpose use, void* owner, int process,
                                        std::size_t frame_bytes) noexcept try {
  const std::size_t at = length_class(frame_bytes);
  transfer_slot& slot = *spare_[at].take(room_of(at), memory_, memory_use::arrival).release();
  slot.use = use;
  slot.owner = owner;
  slot.process = process;
  slot.bytes = frame_bytes;
  flying_.push_back(slot);
  if (use != transfer_slot::purpose::landing) ++sends_;
  if (use == transfer_slot::purpose::several) ++several_;
  return &slot;
} catch (const std::exception&) {  // weft::error, std::bad_alloc
  return nullptr;
}

void transfer_slots::give_back(transfer_slot& slot) noexcept {
  flying_.erase(flying_.iterator_to(slot));
  if (slot.use != transfer_slot::purpose::landing) --sends_;
  if (slot.use == transfer_slot::purpose::several) --several_;
  const std::size_t frame_bytes = slot.has_frame() ? slot.bytes : 0;
  spare_[length_class(frame_bytes)].keep(std::unique_ptr<transfer_slot>(&slot));
}

void transfer_slots::disown(const void* owner) noexcept {
  for (transfer_slot& slot : flying_)
    if (slot.owner == owner) slot.owner = nullptr;
}

void transfer_slots::keep_always(std::size_t frame_bytes, std::size_t many) {
  const std::size_t at = length_class(frame_bytes);
  always_[at] = many;
  spare_[at].reserve(many, room_of(at), memory_, memory_use::arrival);
}

void transfer_slots::reserve(const counts& all) {
  for (std::size_t i = 0; i < all.size(); ++i)
    spare_[i].reserve(all[i] + always_[i], room_of(i), memory_, memory_use::call);
}

void transfer_slots::trim(const counts& all) noexcept {
  for (std::size_t i = 0; i < all.size(); ++i) spare_[i].trim(all[i] + always_[i]);
}

}  // namespace weft::fabric
