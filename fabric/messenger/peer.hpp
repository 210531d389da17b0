// SPDX-License-Identifier: Apache-2.0
// What this process knows of another one, and what waits to be sent to it. The messenger's token guards it.
#pragma once

#include <boost/intrusive/list.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <weft/fabric/message_counts.hpp>
#include <weft/runtime/clock.hpp>

#include "outgoing.hpp"
#include "payload.hpp"

namespace weft::fabric {

/// The other side of a connection.
struct peer {
  peer(int its_process, object_pool<outgoing>& frames) noexcept
      : process(its_process), control(frames), messages(frames) {}

  /// One passes: while a payload arrives that keeps the next pieces short.
  void note_short_message() noexcept {
    if (window_used != 0) shared_pieces = pieces_after_short_message;
  }
  static constexpr int pieces_after_short_message = 8;

  const int process;
  message_counts::road road = message_counts::network;  ///< to it
  std::size_t links = 1;                                ///< to it, by which payloads go side by side
  std::uint32_t sent_frames = 0;
  std::uint32_t taken_frames = 0;
  std::int64_t sent_at = INT64_MIN / 2;  ///< when something was last sent to it, coarse milliseconds
  std::int64_t credit = 0;               ///< what we may still put into its ring, in units
  std::uint32_t owed = 0;                ///< what we have taken out of ours and not told it yet
  bool envelopes_only = false;           ///< it has asked us to
  bool asked_for_envelopes = false;
  std::size_t stored = 0;             ///< bytes of its messages that nothing matches yet
  clock::time_point refused_since{};  ///< when the provider began to refuse frames to it
  clock::time_point refused_last{};   ///< none: it takes them
  outgoing_queue control;             ///< grants and the like go before messages
  outgoing_queue messages;
  std::uint64_t sent_in = 0;      ///< the period between polls in which it was last sent what may wait for a poll
  std::size_t waiting_bytes = 0;  ///< of what has waited for the end of that
  bool credit_due = false;        ///< it is to be told of its credit soon
  bool flush_wanted = false;      ///< is in flow_control::unflushed_
  bool check_due = false;         ///< and the frame that tells it is to be one whose end the provider reports
  int checks = 0;                 ///< such frames sent
  std::size_t window_used = 0;    ///< payload bytes granted to senders that are sending
  int shared_pieces = 0;          ///< so many more pieces are short ones: short messages pass between them
  boost::intrusive::list<
      landing, boost::intrusive::member_hook<landing, boost::intrusive::list_member_hook<>, &landing::waiting>,
      boost::intrusive::constant_time_size<false>>
      waiting;
  std::size_t departing = 0;  ///< payload bytes that the provider has for it
  std::uint64_t turns = 0;    ///< payloads that have begun to leave
  boost::intrusive::list<
      departure, boost::intrusive::member_hook<departure, boost::intrusive::list_member_hook<>, &departure::next>,
      boost::intrusive::constant_time_size<false>>
      next;  ///< payloads with a grant that wait for their turn, the first to begin first
  /// Bytes of the longest message that goes to it without asking while it is alone on its way, and of the longest
  /// vector of a collective whose messages always do. Both ends have the same.
  std::size_t at_once = 0;
  std::size_t eager = 0;      ///< bytes of the longest message of a rank that always goes to it without asking
  bool unheard = false;       ///< it was sent one beyond that at once, and nothing has come from it since
  bool may_be_asked = false;  ///< in the latest look: nothing that was to be sent to it waited
  bool connected = false;
  std::uint64_t their_end = 0;  ///< of the connection, where it opened that: for transport::cut
  bool suspected = false;       ///< to be lost soon:
  clock::time_point lose_at{};  ///< then, unless somebody else says first what has happened
  std::string suspicion;
  bool lost = false;
  clock::time_point lost_at{};
  std::string why;
};

}  // namespace weft::fabric
