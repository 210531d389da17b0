// SPDX-License-Identifier: Apache-2.0
// What the rendezvous' server answers to the messages of its connections, without sockets.
#pragma once

#include <cstddef>
#include <list>
#include <span>
#include <string_view>
#include <utility>
#include <vector>
#include <weft/runtime/tcp_store.hpp>

#include "rendezvous_table.hpp"
#include "store_connection.hpp"

namespace weft {

class store_service {
 public:
  /// Throws errc::invalid_argument for a secret that is too short.
  explicit store_service(store_job job);

  int processes() const noexcept { return job_.processes; }

  /// Puts into the output of a new connection what the server says first.
  void greet(store_connection& c) const;

  /// Handles a whole message of `c`, one of `all`: that of a stranger is its proof, that of a process a request. Throws
  /// errc::protocol for one that is neither.
  void handle(store_connection& c, std::span<const std::byte> message, const std::list<store_connection>& all);

  /// Replies to what `c` waits for, if the table has the answer, or that it will never come.
  void answer(store_connection& c);

  /// Whether there may be answers since this was asked last.
  bool take_change() noexcept { return std::exchange(changed_, false); }

  /// As tcp_store_server's.
  void lose(int process, std::string_view how);
  void leave(int process);
  void miss(int process, std::string_view why);
  std::vector<int> absent() const;

 private:
  void handle_hello(store_connection& c, std::span<const std::byte> message, const std::list<store_connection>& all);
  store_protocol::verdict judge(const store_protocol::handshake& h, std::span<const std::byte> given,
                                std::uint32_t version, const std::list<store_connection>& all) const;
  void handle_request(store_connection& c, std::span<const std::byte> message);
  void record_end(std::string_view process, std::string_view how);

  store_job job_;
  rendezvous_table table_;
  std::vector<bool> came_;  ///< by process: has joined
  bool changed_ = false;
};

}  // namespace weft
