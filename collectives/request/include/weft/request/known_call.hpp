// What a rank knows of its latest blocking collective, so that one like it needs neither checks nor choices again.
#pragma once

#include <weft/request.hpp>
#include <weft/request/collective_call.hpp>
#include <weft/request/fingerprint.hpp>
#include <weft/request/leader_call.hpp>

namespace weft::detail {

/// How a blocking call goes.
enum class way : std::uint8_t {
  messages,  ///< by a schedule
  joined,    ///< the ranks of each process join first: joined_call.hpp
  node,      ///< in the memory that the processes of a node share: memory_call.hpp
};

/// The arguments of a call, which were found right, and what follows from them.
struct known_call {
  call_key key;  ///< of no call where it does not tell all
  request_shape shape;
  way goes = way::messages;
  call_terms terms;     ///< of those that do not go by messages
  leader_call between;  ///< of those that go by the node, but for buffers, operator and sequence
  bool seated = false;  ///< of those that are joined: the rank's seat has what follows from the terms
  bool agreed = false;  ///< in the checked mode the ranks have agreed on it before

  /// Whether `call` differs from it in nothing but the buffers, or what the caller's operator does.
  bool is_like(const request& call) const noexcept { return key == key_of(call) && is_told_by_key(call); }
  /// Whether a key says all that matters.
  static bool is_told_by_key(const request& call) noexcept { return !call.uneven && call.common_output == nullptr; }
};

}  // namespace weft::detail
