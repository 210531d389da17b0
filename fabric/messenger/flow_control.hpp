// SPDX-License-Identifier: Apache-2.0
// The other processes: what waits to be sent to each, and credit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>
#include <weft/fabric/message_counts.hpp>
#include <weft/fabric/messenger_settings.hpp>
#include <weft/fabric/slot_map.hpp>
#include <weft/fabric/transport.hpp>

#include "doorbell.hpp"
#include "ended_operations.hpp"
#include "peer.hpp"
#include "transfer_slots.hpp"
#include "troubles.hpp"

namespace weft::fabric {

class flow_control {
 public:
  /// What is given outlives this.
  flow_control(transport& network, messenger_settings& settings, transfer_slots& slots, ended_operations& operations,
               slot_map<departure>& departures, troubles& found, message_counts& counts);

  peer& to(int process) noexcept { return *peers_[static_cast<std::size_t>(process)]; }
  const peer& to(int process) const noexcept { return *peers_[static_cast<std::size_t>(process)]; }
  std::span<const std::unique_ptr<peer>> peers() const noexcept { return peers_; }

  // Connections: each pair of processes has one, which the lower one opens.
  void start(std::span<const address> endpoints);
  bool connected() const noexcept;
  std::string missing() const;
  /// Tells those that this process has connected to what they need to cut the connection.
  void name_connections();
  /// See transport::keep_links.
  void keep_links(std::uint32_t kept);
  void take_hello(peer& from, const header& h);

  static header head_for(message_kind kind, const operation& about) noexcept;
  /// In the order of the calls, but before messages that wait. What cannot be sent now waits.
  void send_control(peer& to, header& h, const std::byte* body = nullptr, std::size_t bytes = 0) noexcept;
  /// Whether one that is no short message goes without asking all the same: while nothing else is on its way to that
  /// peer of another node, so that asking would take longer than copying it does.
  bool may_go_alone(const peer& to, std::size_t bytes) const noexcept;
  /// A message without asking. Throws std::bad_alloc.
  void send_eager(peer& to, send_operation& send);
  /// A short message to a peer that is near, where nothing waits to be sent to it before and it has room. False: it has
  /// not been sent.
  bool put_message(peer& to, message_name name, message_ends ends, std::span<const std::byte> data) noexcept;
  /// That there is a message. Throws std::bad_alloc.
  void send_envelope(peer& to, const departure& announced, header h);
  /// A frame in the order of messages. Throws std::bad_alloc.
  void send_queued(peer& to, const header& h, std::span<const std::byte> body);
  /// Nothing that waits is sent any more.
  void forget(peer& lost) noexcept;

  /// Whether all is sent that waits.
  bool flushed() const noexcept { return unflushed_.empty(); }
  void flush();
  /// Before and after what a poll reports. Meanwhile control frames to other nodes wait for each other, to leave as
  /// one.
  void begin_poll() noexcept {
    ++period_;
    in_poll_ = true;
  }
  void end_poll() noexcept { in_poll_ = false; }
  bool drained() const noexcept;
  [[gnu::noinline]] void want_flush(peer& to);

  static bool costs_credit(const header& h) noexcept;
  void take_credit(peer& from, const header& h);
  void owe_credit(peer& to, std::size_t frame_bytes);
  /// So many more bytes of messages from that process are stored here, or fewer.
  void note_stored(int process, std::ptrdiff_t bytes);

  /// The provider has lost an injected frame, and does not say whose.
  void note_dropped() noexcept { frames_dropped_ = true; }
  bool any_dropped() const noexcept { return frames_dropped_; }
  void check_sequences();

  /// A post that the provider refuses with an error costs us the peer, once nothing is in the middle of something; one
  /// for which there is no memory, this process.
  template <class Post>
  bool post_to_provider(int process, Post post) {
    try {
      return post();
    } catch (const std::bad_alloc&) {
      blame(to(process));
      return false;
    } catch (const std::exception& failed) {
      suspect_connection(process, failed.what());
      return false;
    }
  }
  /// Whether the provider has accepted a post; one that refuses for too long costs us the peer, but for one of this
  /// node that was posted to: its ring is full for as long as it computes.
  bool taken(peer& by, bool accepted, bool there_was_memory);
  /// Has `post` post a transfer of that slot. False: again later, since the provider takes none now, or there is no
  /// memory.
  template <class Post>
  bool post_transfer(transfer_slot::purpose use, void* owner, int process, std::size_t frame_bytes, Post post) {
    transfer_slot* const slot = slots_.try_take(use, owner, process, frame_bytes);
    if (slot == nullptr) return false;
    if (post_to_provider(process, [&] { return post(*slot); })) return true;
    slots_.give_back(*slot);
    return false;
  }
  /// A process that is lost unless something else explains it soon.
  [[gnu::noinline]] void suspect_connection(int process, std::string_view why) noexcept;
  /// The exception that is handled has made a part of what passes between this process and `other` vanish, so one of
  /// the two must go. For want of memory it is this one: an agreement that it decided without the other one, before all
  /// hear of that, would be wrong.
  [[gnu::noinline]] void blame(peer& other) noexcept;
  /// Whether this process is lost, or about to be by its own doing. Then nothing that comes is taken any more.
  bool gives_up() const noexcept { return to(settings_.process).suspected || to(settings_.process).lost; }

  std::size_t frame_limit() const noexcept { return frame_limit_; }
  std::size_t inject_limit() const noexcept { return inject_limit_; }
  /// See longest_at_once in messenger_settings.hpp.
  std::size_t longest_at_once() const noexcept { return at_once_; }
  /// Bytes that messages take whose send has ended and that have not left.
  std::size_t buffered() const noexcept { return buffered_.bytes(); }
  /// One of so many bytes has left.
  void note_left(std::size_t bytes) noexcept { buffered_.shrink(cost_of_buffered(bytes)); }
  /// So that messages are to wait at their senders.
  bool memory_is_scarce() const noexcept { return settings_.memory != nullptr && settings_.memory->is_scarce(); }
  object_pool<outgoing>& frames() noexcept { return frames_; }
  doorbell& bell() noexcept { return bell_; }
  const doorbell& bell() const noexcept { return bell_; }

 private:
  /// That are in flight at a time, to all peers, at most: memory for so many is always there.
  static constexpr std::size_t frames_of_several = 8;

  void keep_within(const transport_limits& limits);
  /// With what is remembered of it, in the queue or when it has been announced.
  static constexpr std::size_t cost_of_buffered(std::size_t bytes) noexcept {
    return bytes + std::max(sizeof(outgoing), sizeof(departure));
  }
  bool gives_for_nothing(const peer& to) const noexcept;
  bool try_transmit(peer& to, header& h, const std::byte* body, std::size_t bytes, std::int64_t reserve);
  bool waits_for_poll(peer& to) const noexcept;
  bool buffer(outgoing_queue& of, outgoing& message) noexcept;
  void buffer_all(peer& to) noexcept;
  bool announce(peer& to, outgoing& message) noexcept;
  bool transmit_first(peer& to);
  std::size_t fit_together(const peer& to, const outgoing_queue& waiting, std::int64_t reserve) const;
  bool transmit_several(peer& to, outgoing_queue& waiting, std::size_t count, std::int64_t reserve);
  bool transmit_all(peer& to);
  void first_has_left(outgoing_queue& waiting) noexcept;
  void remove_first(outgoing_queue& waiting) noexcept;
  bool flush(peer& to);
  bool send_credit(peer& to);

  transport& network_;
  messenger_settings& settings_;
  transfer_slots& slots_;
  ended_operations& operations_;
  slot_map<departure>& departures_;
  troubles& troubles_;
  message_counts& counts_;
  doorbell bell_;
  std::size_t frame_limit_;
  std::size_t inject_limit_ = 0;
  std::size_t at_once_ = 0;
  std::int64_t credit_of_each_ = 0;  // units
  object_pool<outgoing> frames_;     // of all peers' queues
  std::vector<std::unique_ptr<peer>> peers_;
  std::vector<peer*> unflushed_;
  std::unique_ptr<std::byte[]> several_;  // memory for the frames of a frame of several: pages that are used then
  std::size_t room_of_several_ = 0;
  std::uint64_t period_ = 1;  // a poll ends each
  bool in_poll_ = false;
  memory_charge received_;  // receive buffers of the network
  memory_charge buffered_;
  bool frames_dropped_ = false;
  clock::time_point next_check_{};
};

}  // namespace weft::fabric
