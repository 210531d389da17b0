// What a rank knows of its latest blocking collective, so that one like it needs neither checks nor choices again.
#pragma once

#include <weft/request.hpp>

#include "fingerprint.hpp"
#include "leader_call.hpp"
#include "request_shape.hpp"

namespace weft::detail {

struct communicator_state;

/// How a blocking call goes.
enum class way : std::uint8_t {
  messages,  ///< by a schedule
  joined,    ///< the ranks of each process join first: joined_call.hpp
  node,      ///< in the memory that the processes of a node share: node_call.hpp
};

/// The arguments of a call but for its buffers, which were found right, and what follows from them.
struct known_call {
  collective what = collective::barrier;
  custom_operator custom = custom_operator::none;
  kernels::operation op = kernels::operation::sum;
  kernels::type type = kernels::type::float32;
  int root = 0;
  std::size_t in_count = 0;
  std::size_t out_count = 0;
  std::size_t element_bytes = 0;  ///< 0: this is of no call, or of one whose blocks are uneven

  request_shape shape;
  way goes = way::messages;
  call_terms terms;     ///< of those that do not go by messages
  leader_call between;  ///< of those that go by the node, but for buffers, operator and sequence
  bool seated = false;  ///< of those that are joined: the rank's seat has what follows from the terms
  bool agreed = false;  ///< in the checked mode the ranks have agreed on it before

  /// Whether `call` differs from it in nothing but the buffers, or what the caller's operator does.
  bool is_like(const request& call) const noexcept {
    return element_bytes == call.element_bytes && what == call.what && in_count == call.in_count &&
           out_count == call.out_count && op == call.op && type == call.type && root == call.root &&
           custom == custom_of(call.custom) && !call.uneven;
  }
};

/// Checks a call's arguments (argument_checks.hpp), and says how it goes: until the next call.
known_call& know(communicator_state& state, const request& call);

}  // namespace weft::detail
