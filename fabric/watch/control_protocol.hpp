// SPDX-License-Identifier: Apache-2.0
// What monitors say to each other over a control connection.
//
//   connector                                 acceptor
//      hello                          ->                    who I am, whom I want, a challenge
//                                     <-   hello, proof     the same, and that I know the job's secret
//      proof, messages                ->                    so do I; what I know
//                                     <-   messages         the connection stands once the first one is here
//
// A hello begins with the prefix that never changes (build_identity.hpp). A message is its length (2 bytes), its kind
// (1) and its fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>
#include <weft/fabric/build_identity.hpp>
#include <weft/runtime/challenge.hpp>

namespace weft::fabric {

struct control_hello {
  static constexpr std::string_view magic = "weft-ctl";
  static constexpr std::size_t size = build_prefix::size + 8 + 3 * 4 + sizeof(challenge);

  build_prefix prefix;
  std::uint64_t job = 0;
  std::uint32_t from = 0;         ///< the process that speaks
  std::uint32_t to = 0;           ///< the process it speaks to
  std::uint32_t incarnation = 0;  ///< of the one that speaks
  challenge number{};
};

std::vector<std::byte> encode(const control_hello& hello);

/// The hello at the front of `bytes`, which hold one of this wire version whole; empty if its magic is another.
std::optional<control_hello> decode_hello(std::span<const std::byte> bytes);

enum class control_end { connector, acceptor };

/// Proves for one end of a connection that it knows the secret; the two hellos as they were sent.
proof prove_end(control_end end, std::span<const std::byte> secret, std::span<const std::byte> connector_hello,
                std::span<const std::byte> acceptor_hello);

enum class control_kind : std::uint8_t {
  alive = 1,  ///< nothing new
  lost,       ///< `process` is lost; `bytes` say why
  left,       ///< `process` has left
  note,       ///< note number `sequence` of `process`, in `bytes`
  vote,       ///< what `process` says in a vote (vote.hpp), in `bytes`; greater `sequence`s are later
  ask,        ///< `process` is silent: those of its host are to look whether it is held; greater `sequence`s are later
  held,       ///< the answer to that question: it is stopped, or a debugger has it
};

struct control_message {
  control_kind kind = control_kind::alive;
  std::uint32_t process = 0;
  std::uint64_t sequence = 0;
  std::span<const std::byte> bytes{};  ///< of lost, note and vote: what is left of the message
};

std::vector<std::byte> encode(const control_message& message);

/// Takes a message off the front of `from`, or returns nothing if there is no whole one yet. Its `bytes` lie in `from`.
/// Throws errc::protocol for what is no message.
std::optional<control_message> take_message(std::span<const std::byte>& from);

}  // namespace weft::fabric
