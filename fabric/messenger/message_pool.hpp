// SPDX-License-Identifier: Apache-2.0
// Memory for messages that come before their receives.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>
#include <weft/fabric/mailbox.hpp>
#include <weft/runtime/memory_budget.hpp>

namespace weft::fabric {

/// Messages that were matched are kept for later ones of about their length, so that a steady state allocates none; and
/// who knows what will come reserves as many beforehand. One thread at a time.
class message_pool {
 public:
  explicit message_pool(std::shared_ptr<memory_budget> memory = nullptr);

  /// A message to fill in, with room for so many bytes. Throws std::bad_alloc, errc::out_of_memory.
  std::unique_ptr<unexpected_message> take(std::size_t bytes);
  /// Gives one back that has been matched, or dropped.
  void keep(std::unique_ptr<unexpected_message> used) noexcept;

  /// From now on one more of so many bytes is here, unless it has been taken, and is kept. Throws as `take`, with
  /// nothing changed.
  void reserve(std::size_t bytes);
  /// Takes back one such call.
  void release(std::size_t bytes) noexcept;

 private:
  /// Messages with room for 64 bytes, 128, 256 ...
  struct shelf {
    std::vector<std::unique_ptr<unexpected_message>> spare;  // grows where something is reserved, and nowhere else
    std::size_t reserved = 0;
  };
  static constexpr std::size_t shelves = 26;

  static std::size_t shelf_of(std::size_t bytes) noexcept;
  static constexpr std::size_t room_of(std::size_t shelf) noexcept { return std::size_t{64} << shelf; }

  std::unique_ptr<unexpected_message> with_room(std::size_t bytes, memory_use use) const;

  const std::shared_ptr<memory_budget> memory_;
  std::array<shelf, shelves> shelves_;
};

}  // namespace weft::fabric
