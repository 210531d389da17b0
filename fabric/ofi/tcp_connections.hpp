// SPDX-License-Identifier: Apache-2.0
// The TCP connections that a libfabric provider has opened, found among this process's descriptors.
//
// net, tcp and rxm over them carry a pair of endpoints on one connection, which the side that sends first opens:
//
//   connector   some port  -------- the acceptor's endpoint's port   acceptor
//
// libfabric has no call that closes one connection, and a payload that has begun to arrive over it can be stopped in no
// other way. So the connection is shut down, as a broken cable would, which the provider is made for: it ends all that
// was on it with errors.
#pragma once

#include <cstdint>
#include <span>
#include <vector>
#include <weft/fabric/transport.hpp>

namespace weft::fabric {

/// Names this process's ends of its connections to the endpoints with these addresses (sockaddr_in or sockaddr_in6);
/// 0 where there is none, or more than one, as when several endpoints of this process have opened them.
std::vector<std::uint32_t> names_of_connections_to(std::span<const address> endpoints);

/// Has the system take no more for the connections between the endpoint with the address `own` and those with the
/// others while it has so many bytes of it that it cannot send yet. Where it refuses, nothing changes.
void limit_unsent(const address& own, std::span<const address> others, int bytes);

/// Shuts the connection between two endpoints down; `their_end` is its name there if `theirs` opened it. Does nothing
/// when it is not to be found, or cannot be told from others.
void break_connection(const address& own, const address& theirs, std::uint32_t their_end) noexcept;

}  // namespace weft::fabric
