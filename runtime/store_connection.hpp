// SPDX-License-Identifier: Apache-2.0
// A connection to the rendezvous' server: what came in on it, and what is to go out.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>
#include <weft/runtime/socket.hpp>
#include <weft/runtime/store.hpp>

#include "rendezvous_table.hpp"
#include "store_protocol.hpp"

namespace weft {

struct store_connection {
  file_descriptor socket;
  challenge nonce = draw_challenge();
  store::clock::time_point accepted = store::clock::now();
  int process = -1;  ///< -1: has not proved that it belongs to the job
  std::vector<std::byte> input;
  std::vector<std::byte> output;
  std::size_t sent = 0;  ///< of output
  std::uint32_t sequence = 0;
  std::optional<rendezvous_table::wait> waiting;
  bool closing = false;        ///< once the output is sent, or at once without any
  std::uint32_t interest = 0;  ///< that epoll was told of

  bool is_stranger() const { return process < 0; }
  bool is_closed() const { return closing && output.empty(); }
  void close_at_once();

  /// Takes what has come. Throws weft::error when the other side has closed the connection.
  void receive();

  /// Takes the first message out of the input; nothing as long as it has not come whole. Throws errc::protocol for one
  /// that is longer than any may be.
  std::optional<std::vector<std::byte>> next_message();

  /// Puts a reply to the request `sequence` into the output.
  void reply(store_protocol::reply status, std::span<const std::byte> value);

  /// Sends as much of the output as goes without waiting. A connection that broke is to be closed.
  void send();
};

}  // namespace weft
