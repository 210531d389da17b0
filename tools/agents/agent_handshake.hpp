// SPDX-License-Identifier: Apache-2.0
// How an agent and the launcher show each other that they know the job's secret, right after they are connected. All
// that is sent before is of one size:
//
//   launcher                                   agent
//     challenge                       ----->
//              <-----  host (4 bytes), challenge, proof
//     proof                           ----->
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>
#include <weft/runtime/challenge.hpp>
#include <weft/runtime/socket.hpp>

namespace weft::tools {

inline constexpr std::size_t agent_hello_size = 4 + sizeof(challenge) + sizeof(proof);

/// The launcher's side, in one step: what to answer to an agent's hello, and for which host it came.
struct admission {
  int host = 0;
  proof answer;
};

/// Nothing for who does not know the secret. `hello` has agent_hello_size bytes.
std::optional<admission> admit(const std::string& secret, const challenge& asked, std::span<const std::byte> hello);

/// The agent's side: connects to the one of `addresses` that is the launcher, trying all at once, again and again until
/// `deadline`. Blocks. Throws errc::no_rendezvous, saying what each address did, when none is, or when `abandoned`
/// hangs up.
file_descriptor connect_to_launcher(const std::vector<std::string>& addresses, const std::string& secret, int host,
                                    const file_descriptor& abandoned, socket_deadline deadline);

}  // namespace weft::tools
