// SPDX-License-Identifier: Apache-2.0
// A rank's end of a window.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <weft/window/window_memory.hpp>
#include <weft/window/window_messages.hpp>

namespace weft::detail {

class window_state {
 public:
  /// Of the window's own communicator. Where there is no memory the others are told by `part`.
  window_state(std::shared_ptr<communicator_state> own, const window_type& type, std::size_t count, std::size_t slots);

  const window_part& part() const noexcept { return part_; }
  /// Learns where the others' memory is; throws what find_targets() does.
  void connect(std::span<const window_part> all);

  communicator_state& own() noexcept { return *own_; }
  const window_type& type() const noexcept { return type_; }
  const window_target* targets() const noexcept { return table_->targets.data(); }
  std::byte* local() const noexcept { return memory_->target().elements; }
  /// To those that are reached so. Not before connect().
  window_messages& messages() noexcept { return *messages_; }

  // These block.
  void wait_notified(std::size_t slot, std::uint32_t count);
  void flush(int rank);
  void flush_all();
  void lock(int rank, lock_mode mode);
  /// The rank's lock is free, of this rank, from now on.
  void give_back(int rank, lock_mode mode);

  /// All ranks have come to the end: no message is for this one any more.
  void stop() noexcept;
  /// The communicator has failed, and nothing of it is in flight: others may still write the memory.
  void give_up() noexcept;
  /// Whether an exception is unwinding that was not when this began.
  bool unwinding() const noexcept { return std::uncaught_exceptions() > exceptions_; }

 private:
  bool try_lock(int rank, lock_mode mode);

  const std::shared_ptr<communicator_state> own_;
  const window_type& type_;
  std::optional<window_memory> memory_;
  window_part part_;
  std::shared_ptr<const window_table> table_;
  std::unique_ptr<window_messages> messages_;  ///< null: all ranks share memory with this one, both ways
  std::unique_ptr<std::uint32_t[]> awaited_;   ///< of each slot: puts that have been waited for
  const int exceptions_ = std::uncaught_exceptions();
};

}  // namespace weft::detail
