// SPDX-License-Identifier: Apache-2.0
// What ends the sleep of a process that waits for messages: an empty datagram to where its monitor listens.
#pragma once

#include <netinet/in.h>

#include <span>
#include <string>
#include <vector>
#include <weft/fabric/process_record.hpp>
#include <weft/runtime/socket.hpp>

namespace weft::fabric {

/// A datagram socket. It says nothing and promises nothing: a ring may get lost, and a stranger's ring wakes somebody
/// for nothing.
class bell {
 public:
  /// Binds to `address`, "ip:port", the port being that of a TCP socket; false where somebody has that port for
  /// datagrams. Throws a system error for any other reason, and errc::invalid_argument for an address that is none.
  bool hang(const std::string& address);

  int descriptor() const noexcept { return socket_.get(); }

  /// Learns where the others' bells are: at the first of their control addresses. One whose address is none cannot be
  /// rung.
  void meet(std::span<const process_record> all);

  /// Rings at process `process`; before `meet` nobody is known. Does not block. Any thread, but not during `meet`.
  void ring(int process) const noexcept;

  /// Takes off what has rung.
  void silence() const noexcept;

 private:
  file_descriptor socket_;
  std::vector<sockaddr_in6> others_;  // which has room for an IPv4 address, too; by process; family 0: not known
};

}  // namespace weft::fabric
