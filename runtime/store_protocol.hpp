// SPDX-License-Identifier: Apache-2.0
// What goes over a store's connection. All integers are unsigned, least significant byte first.
//
//   launcher                                          process
//     greeting: magic, version, nonce          ----->
//              <-----  hello: magic, version, process, processes, nonce, proof
//     verdict: 0, or why not; proof            ----->
//              <-----  request: kind, 0, key length, value length, sequence; key; value
//     reply: status, sequence, length; value   ----->       ... one request at a time
//
// A proof (challenge.hpp) covers its side, the version, the job, the process, their number and both nonces, so neither
// side's can be replayed or reflected. Magic and version stand first in every version.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>
#include <weft/runtime/challenge.hpp>

namespace weft::store_protocol {

inline constexpr std::uint64_t magic = 0x65726f7473746677;  // "wftstore"
inline constexpr std::uint32_t version = 2;

/// Characters.
inline constexpr std::size_t shortest_secret = 16;

inline constexpr std::size_t greeting_size = 8 + 4 + sizeof(challenge);
inline constexpr std::size_t hello_size = 8 + 4 + 4 + 4 + sizeof(challenge) + sizeof(proof);
inline constexpr std::size_t verdict_size = 4 + sizeof(proof);
inline constexpr std::size_t request_size = 1 + 1 + 2 + 4 + 4;
inline constexpr std::size_t reply_size = 4 + 4 + 8;

/// In place of a process in the hello of somebody who is none, but belongs to the job: who started some of its
/// processes and tells how they ended. It may ask nothing else: the key of `ended` is the process's number, the value
/// how it died, or nothing when it ended as it should.
inline constexpr std::uint32_t witness = 0x7fffffff;

enum class verdict : std::uint32_t { accepted, wrong_secret, wrong_process, already_connected, wrong_version };
enum class request : std::uint8_t { put = 1, get, find, fence, gather, ended };
enum class reply : std::uint32_t { value, absent, lost };

/// Everything that a proof covers besides its side.
struct handshake {
  std::uint64_t job = 0;
  std::uint32_t process = 0;
  std::uint32_t processes = 0;
  challenge launcher{};
  challenge client{};
};

enum class side { launcher, process };

proof prove(side whose, const std::string& secret, const handshake& h);
/// What a process that knows the secret says of itself.
std::vector<std::byte> hello_of(const handshake& h, const std::string& secret);

}  // namespace weft::store_protocol
