// SPDX-License-Identifier: Apache-2.0
// Accepts connections from a job's agents, which prove that they know the job's secret.
#pragma once

#include <array>
#include <functional>
#include <list>
#include <string>
#include <vector>
#include <weft/runtime/challenge.hpp>
#include <weft/runtime/socket.hpp>
#include <weft/streams/event_loop.hpp>
#include <weft/streams/timer.hpp>

#include "agent_handshake.hpp"

namespace weft::tools {

class acceptor {
 public:
  using handler = std::function<void(int host, file_descriptor socket)>;

  /// Listens on each of the addresses `local` that the system allows; throws weft::error where that is none. Calls
  /// `accepted` with each connection that has proved itself, and the host that it names; the callee knows whether an
  /// agent of that host is awaited. Connections without a proof are closed after a second, or earlier, oldest first,
  /// where too many are pending.
  acceptor(event_loop& loop, const std::vector<std::string>& local, std::string secret, std::size_t expected,
           handler accepted);
  ~acceptor() { close(); }
  acceptor(const acceptor&) = delete;
  acceptor& operator=(const acceptor&) = delete;

  /// What to connect to.
  std::vector<std::string> addresses() const;

  /// Accepts no more. Also from within `accepted`.
  void close();

 private:
  struct unproved {
    file_descriptor socket;
    challenge asked = draw_challenge();
    std::array<std::byte, agent_hello_size> hello{};
    std::size_t received = 0;
    event_loop::clock::time_point since = event_loop::clock::now();
  };

  void listen();
  void accept_some(const file_descriptor& listener);
  void take(file_descriptor socket);
  void receive(std::list<unproved>::iterator who);
  void drop(std::list<unproved>::iterator who);
  void keep_time();

  event_loop& loop_;
  std::string secret_;
  std::size_t most_unproved_;
  handler accepted_;
  std::vector<file_descriptor> listeners_;
  std::list<unproved> unproved_;  // the oldest first
  timer proofs_;                  // when the oldest has had its time
  timer deaf_;                    // until there is room for more connections
};

}  // namespace weft::tools
