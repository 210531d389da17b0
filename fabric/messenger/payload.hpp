// SPDX-License-Identifier: Apache-2.0
// Messages too long to send without asking, on their way in and out.
#pragma once

#include <array>
#include <boost/intrusive/list.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <weft/fabric/fifo_index.hpp>
#include <weft/fabric/operation.hpp>
#include <weft/fabric/participant.hpp>
#include <weft/fabric/slot_map.hpp>
#include <weft/fabric/transport.hpp>

namespace weft::fabric {

struct room;

/// Pieces of one message that are on the way at a time by each link: while one travels the next is granted.
inline constexpr std::size_t pieces_ahead = 2;
/// By all links.
inline constexpr std::size_t most_pieces_ahead = 8;

/// How long the provider gets to give back memory that a lost process was to fill or was to read, before anything else
/// is believed.
inline constexpr std::chrono::milliseconds orphan_time{500};

/// Up to there a message may be sent, in pieces of so many bytes but for the last.
struct granted_range {
  std::size_t end = 0;
  std::uint32_t piece = 0;
};

/// A message that leaves in pieces, as the receiver grants it.
struct departure {
  std::uint32_t id = 0;  ///< our name for it
  int process = -1;
  send_operation* operation = nullptr;  ///< whose message it is; null when that has ended, or for an early grant
  std::unique_ptr<std::byte[]> kept;    ///< the message, where its operation has ended already
  const std::byte* data = nullptr;
  std::size_t bytes = 0;

  // From the receiver's grants.
  std::uint32_t remote_id = 0;                            ///< the receiver's name for it; 0: no grant yet
  std::array<granted_range, most_pieces_ahead> grants{};  ///< the first ones first
  std::size_t grant_count = 0;
  std::uint64_t fingerprint = 0;

  std::uint64_t turn = 0;  ///< among those to its process, in the order in which they began to leave; 0: it has not
  std::size_t sent = 0;
  std::uint32_t pieces = 0;  ///< that have been sent
  int in_flight = 0;         ///< of them
  bool stopped = false;      ///< nothing more is sent
  bool withdrawn = false;    ///< and the receiver knows, or is lost
  bool orphaned = false;     ///< its receiver is lost
  bool refused = false;      ///< its receiver has given it up, and nothing else says so here

  room* early_in = nullptr;  ///< where a grant waits for its send, under this key
  match_key early_key;
  boost::intrusive::list_member_hook<> early;
  boost::intrusive::list_member_hook<> granted;  ///< under its process and remote_id
  boost::intrusive::list_member_hook<> blocked;  ///< waits for the provider to take more
  boost::intrusive::list_member_hook<> next;     ///< waits for its turn
};

/// A new one. Throws std::bad_alloc.
inline departure& depart(slot_map<departure>& among, int process, std::size_t bytes) {
  departure& leaving = among.add();
  leaving.process = process;
  leaving.operation = nullptr;
  leaving.kept.reset();
  leaving.data = nullptr;
  leaving.bytes = bytes;
  leaving.remote_id = 0;
  leaving.grant_count = 0;
  leaving.turn = 0;
  leaving.sent = 0;
  leaving.pieces = 0;
  leaving.in_flight = 0;
  leaving.stopped = leaving.withdrawn = leaving.orphaned = leaving.refused = false;
  leaving.early_in = nullptr;
  return leaving;
}

/// A message that arrives in pieces.
///
///     0 ... landed ... posted ... target ... bytes
///
/// Memory is posted first and then granted to the sender, piece by piece, so a payload never comes unexpected.
struct landing {
  std::uint32_t id = 0;  ///< our name for it, in the tags of its pieces
  int process = -1;
  receive_operation* operation = nullptr;
  std::size_t bytes = 0;
  std::uint32_t sender_name = 0;                               ///< from its envelope; 0 in a collective
  std::array<std::uint32_t, most_pieces_ahead> next_pieces{};  ///< bytes of the pieces to be posted next
  std::size_t next_count = 0;
  std::size_t posted = 0;
  std::size_t landed = 0;
  std::size_t target = 0;        ///< what may be posted by now
  std::uint32_t pieces = 0;      ///< that have been posted
  int in_flight = 0;             ///< of them
  bool active = false;           ///< its sender is sending: counts against the peer's window
  bool granted = false;          ///< its sender has a grant, or will have one
  bool asked = false;            ///< its sender is to say when it is ready: 0 bytes were granted at first
  std::size_t early_pieces = 0;  ///< those that are granted before its sender may be ready
  bool withdrawing = false;
  std::size_t last = 0;  ///< withdrawing: how much the sender has sent in all, once it has said so
  bool last_known = false;
  bool orphaned = false;                         ///< its sender is lost
  bool told_why = true;                          ///< what ended it comes, or has come, to this process by itself
  bool taken_back = false;                       ///< withdrawing: by its owner, while nothing was to be sent
  std::shared_ptr<const poison> poisoned;        ///< withdrawing: since the message has no contents
  boost::intrusive::list_member_hook<> waiting;  ///< for a share of the peer's window
  boost::intrusive::list_member_hook<> blocked;  ///< waits for the provider to take more
};

/// Under which a piece of a message travels: the receiver's name for the message, and which piece it is. By its tag a
/// piece takes one of several links, by turns: so messages of one piece whose names differ in their generation alone
/// count from another number on. Numbers repeat after more pieces than are on the way at a time.
constexpr std::uint64_t piece_tag(std::uint32_t id, std::uint32_t number) noexcept {
  return std::uint64_t{(number + (id >> slot_map<landing>::index_bits)) & 0x7fffu} << 32 | id;
}

}  // namespace weft::fabric
