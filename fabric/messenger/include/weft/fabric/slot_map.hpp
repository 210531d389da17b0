// SPDX-License-Identifier: Apache-2.0
// Names for objects that come and go.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

namespace weft::fabric {

/// Owns objects under 32-bit names that are never 0. A name that was given back is not given out again for 1024 uses of
/// its slot, so a stale one finds nothing. Recycles objects: `add` hands out one that `remove` took back where there is
/// one, as it was left; of those that were not reserved a few are kept.
template <class T>
class slot_map {
 public:
  static constexpr std::uint32_t index_bits = 22;

  /// An object and its new name, written to its member `id`. Throws std::length_error with 4 million in use.
  T& add() {
    if (free_.empty()) make();
    const std::uint32_t index = free_.back();
    free_.pop_back();
    used_[index] = true;
    T& taken = *slots_[index];
    taken.id = (generations_[index] << index_bits) | (index + 1);
    return taken;
  }

  /// So many can be in use at a time from now on without an allocation. Throws as `add` does.
  void reserve(std::size_t all) {
    while (made_ < all) make();
    reserved_ = std::max(reserved_, all);
  }

  /// The object of that name, or null.
  T* find(std::uint32_t id) noexcept {
    const std::uint32_t index = (id & ((1u << index_bits) - 1)) - 1;
    return index < slots_.size() && used_[index] && slots_[index]->id == id ? slots_[index].get() : nullptr;
  }

  void remove(T& object) noexcept {
    const std::uint32_t index = (object.id & ((1u << index_bits) - 1)) - 1;
    generations_[index] = (generations_[index] + 1) & ((1u << (32 - index_bits)) - 1);
    used_[index] = false;
    if (made_ <= std::max(reserved_, most_spare)) return free_.push_back(index);
    slots_[index].reset();
    --made_;
    bare_.push_back(index);
  }

  template <class Function>
  void for_each(Function&& function) {
    for (std::size_t i = 0; i < slots_.size(); ++i)
      if (used_[i]) function(*slots_[i]);
  }

 private:
  static constexpr std::size_t most_spare = 512;

  /// One that is free.
  void make() {
    if (!bare_.empty()) {
      slots_[bare_.back()] = std::make_unique<T>();
      free_.push_back(bare_.back());
      bare_.pop_back();
      ++made_;
      return;
    }
    if (slots_.size() >= (std::size_t{1} << index_bits) - 1)
      throw std::length_error("weft: more than 4 million payloads in flight");
    auto made = std::make_unique<T>();
    if (slots_.size() == slots_.capacity()) make_room(2 * slots_.size() + 16);
    slots_.push_back(std::move(made));  // nothing throws from here on
    generations_.push_back(0);
    free_.push_back(static_cast<std::uint32_t>(slots_.size() - 1));
    used_.push_back(false);
    ++made_;
  }

  /// For so many, of which all may be free. `slots_` is last: its capacity says what all have.
  void make_room(std::size_t count) {
    generations_.reserve(count);
    free_.reserve(count);
    bare_.reserve(count);
    used_.reserve(count);
    slots_.reserve(count);
  }

  std::vector<std::unique_ptr<T>> slots_;
  std::vector<std::uint32_t> generations_;
  std::vector<std::uint32_t> free_;  ///< slots with an object
  std::vector<std::uint32_t> bare_;  ///< slots without
  std::vector<bool> used_;
  std::size_t made_ = 0;  ///< objects, and not deleted
  std::size_t reserved_ = 0;
};

}  // namespace weft::fabric
