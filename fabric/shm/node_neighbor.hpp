// SPDX-License-Identifier: Apache-2.0
// Another process of the node, as messages see it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <system_error>
#include <vector>
#include <weft/fabric/arena_ring.hpp>
#include <weft/fabric/moving_transfer.hpp>
#include <weft/fabric/transport.hpp>
#include <weft/runtime/clock.hpp>

#include "faster_road.hpp"

namespace weft::fabric {

class arena;

/// The rings to and from it, and the payloads on their way. What `node_transport` says of threads holds here.
class node_neighbor {
 public:
  /// Transfers that end where nobody listens go to `ended`, which outlives this, as `memory` does.
  node_neighbor(const arena& memory, int peer, transfer_list& ended);

  // False where there is no room in its ring.
  bool put_frame(std::span<const std::byte> head, std::span<const std::byte> body = {});
  bool put_message(message_name name, message_ends ends, std::span<const std::byte> bytes);
  bool send(std::uint64_t tag, std::span<const std::byte> bytes, transfer& context);

  void receive(std::uint64_t tag, std::span<std::byte> bytes, transfer& context);
  /// Whether it was one of this one's receives.
  bool cancel(transfer& context);
  /// Nothing comes from it and goes to it any more.
  void cut() noexcept;
  /// How many things have happened.
  std::size_t poll(receiver& to);

 private:
  enum class record_kind : std::uint8_t {
    frame = 1,
    message,  ///< message_name | message_ends | its bytes
    payload,  ///< payload_record
    part,     ///< part_record | bytes of it
    copied,   ///< copied_record | bytes of it: what its receiver need not read
    taken     ///< the name of a payload that its sender may forget
  };
  struct payload_record;
  struct part_record;
  struct copied_record;

  bool put(record_kind kind, std::span<const std::byte> first, std::span<const std::byte> second = {});
  void end(moving_transfer& ended, std::errc failure) noexcept;
  moving_transfer* take_posted(std::uint64_t tag, std::uint64_t bytes) noexcept;
  std::size_t take_records(receiver& to);
  void take_message(std::span<const std::byte> bytes, receiver& to);
  void take(record_kind kind, std::span<const std::byte> bytes, receiver& to);
  void take_payload(const payload_record& there);
  void take_part(std::span<const std::byte> record, receiver& to);
  void take_copied(std::span<const std::byte> record, receiver& to);
  void land(moving_transfer& in, std::span<const std::byte> bytes, receiver& to);
  /// One of `landing_`.
  void end_landing(moving_transfer& ended, std::error_code failure, receiver& to);
  void take_taken(std::uint64_t name, receiver& to);
  /// Whether the rest of what is landing comes sooner by waiting for its sender than by reading.
  bool parts_come();
  moving_transfer* first_read() const noexcept;
  std::size_t read_slice(receiver& to);
  void tell_taken();
  void choose_road(moving_transfer& payload);
  bool send_at_once(moving_transfer& payload);
  bool put_part(moving_transfer& of, bool has_name);
  std::size_t put_parts();

  const int peer_;
  arena_ring_writer out_;
  arena_ring_reader in_;
  const std::int64_t pid_;
  const bool reads_;   // each other's memory
  const bool copies_;  // payloads into the ring, for a reader on another CPU
  transfer_list& ended_;
  bool cut_ = false;
  int short_slices_ = 0;
  bool took_part_ = false;                   // since `last_part_`
  clock::time_point last_part_, last_look_;  // where something is landing
  transfer_list posted_;                     // receives that nothing has come for
  transfer_list landing_;                    // and those that something has
  transfer_list leaving_;                    // payloads that have not been taken
  faster_road road_;                         // of long payloads to it
  std::vector<std::uint64_t> owed_;          // names of payloads that have been, for their sender
};

}  // namespace weft::fabric
