// SPDX-License-Identifier: Apache-2.0
// The transfers that the provider works on, and what each is for.
#pragma once

#include <array>
#include <boost/intrusive/list.hpp>
#include <cstddef>
#include <memory>
#include <tuple>
#include <vector>
#include <weft/fabric/transport.hpp>
#include <weft/runtime/memory_budget.hpp>

#include "object_pool.hpp"

namespace weft::fabric {

/// A transfer and what it is for.
struct transfer_slot : transfer {
  enum class purpose { frame, several, landing, departure };
  transfer_slot(std::size_t room, const std::shared_ptr<memory_budget>& memory, memory_use use)
      : charge(memory, sizeof(transfer_slot) + room, "a frame on its way", use) {
    if (room != 0) frame = std::make_unique_for_overwrite<std::byte[]>(room);
  }
  memory_charge charge;
  bool has_frame() const noexcept { return use == purpose::frame || use == purpose::several; }
  purpose use = purpose::frame;
  void* owner = nullptr;  ///< the landing or departure; null when it has been given up
  int process = -1;
  std::size_t bytes = 0;               ///< of the frame, or of the payload
  std::unique_ptr<std::byte[]> frame;  ///< memory for one, kept from use to use
  boost::intrusive::list_member_hook<> flying;
};

/// Those in flight, in the order in which they began. Others are kept for later ones with as long a frame, or none.
class transfer_slots {
 public:
  using list = boost::intrusive::list<
      transfer_slot,
      boost::intrusive::member_hook<transfer_slot, boost::intrusive::list_member_hook<>, &transfer_slot::flying>,
      boost::intrusive::constant_time_size<false>>;

  /// How many with frames of each length, rounded up; those for payloads have none.
  using counts = std::array<std::size_t, 27>;
  static std::size_t length_class(std::size_t frame_bytes) noexcept;

  explicit transfer_slots(std::shared_ptr<memory_budget> memory = nullptr);
  ~transfer_slots();

  /// One with memory for a frame of so many bytes; null: there is none now.
  transfer_slot* try_take(transfer_slot::purpose use, void* owner, int process, std::size_t frame_bytes) noexcept;
  void give_back(transfer_slot& slot) noexcept;
  /// Whatever comes of the owner's transfers, nobody is told.
  void disown(const void* owner) noexcept;

  list& flying() noexcept { return flying_; }
  const list& flying() const noexcept { return flying_; }
  /// Frames and payloads that leave.
  std::size_t sends() const noexcept { return sends_; }
  /// Frames of several.
  std::size_t several() const noexcept { return several_; }

  /// So many with memory for a frame of so many bytes are there beside the reserved ones. Throws std::bad_alloc,
  /// errc::out_of_memory.
  void keep_always(std::size_t frame_bytes, std::size_t many);
  /// So many can be in flight at a time from now on without an allocation. Throws as `keep_always`.
  void reserve(const counts& all);
  /// No more need be kept.
  void trim(const counts& all) noexcept;

 private:
  const std::shared_ptr<memory_budget> memory_;
  std::vector<object_pool<transfer_slot>> spare_;  // by length_class
  counts always_{};
  list flying_;
  std::size_t sends_ = 0;
  std::size_t several_ = 0;
};

}  // namespace weft::fabric
