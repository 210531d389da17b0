// SPDX-License-Identifier: Apache-2.0
// Messages in flight.
#pragma once

#include <boost/intrusive/list_hook.hpp>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <weft/runtime/ticks.hpp>

namespace weft::fabric {

class engine;
class participant;
struct unexpected_message;

/// What can be left for whoever polls next, in the messenger's own list.
struct submission {
  virtual ~submission() = default;
  /// Where the token is held.
  virtual void begin(engine& by) noexcept = 0;
  submission* next_submitted = nullptr;
};

/// Something else than an operation that wants the token: see `messenger::hand_over`.
struct task : submission {
  /// Where the token is held, so it may post operations by `messenger::post_held`; must not block. The messenger's last
  /// access to the task.
  virtual void run_held() noexcept = 0;
  void begin(engine&) noexcept final { run_held(); }
};

/// Why a message of a collective has no contents: the operator that was to make them, or something that they depend on,
/// threw.
struct poison {
  std::int32_t origin = -1;  ///< the rank where it threw
  std::string why;           ///< what; may be empty
};

/// What those throw who depend on it: errc::operation_failed that names the rank.
std::exception_ptr as_failure(const poison& of);

/// A message that is to be sent or received. Its owner keeps it, and the buffer, in place from `messenger::post` until
/// `finished` is called; it may be posted again then.
struct operation : submission {
  /// The operation has ended, well or (`failure` is set) not. Called by whichever thread polls, while it holds the
  /// token: must not block nor throw, and may post further operations by `messenger::post_held`. The messenger's last
  /// access to the operation.
  virtual void finished() noexcept = 0;

  participant* at = nullptr;  ///< whose operation this is
  int peer = -1;              ///< rank of the other side; any_peer in receives of messages
  std::uint64_t tag = 0;  ///< of the message, or any_message_tag in receives; in a collective sequence << 32 | ordinal
  bool collective = false;        ///< which matching space; a collective's receives name peer, tag and exact length
  std::uint64_t fingerprint = 0;  ///< collectives: what both sides must agree on
  /// Nobody waits for it yet: set and cleared by its owner, with the token held. If it fails then, its communicator
  /// goes on.
  bool ahead = false;
  std::size_t bytes = 0;  ///< length of the message; capacity of a receive
  /// Collectives: bytes of the whole vector, the same at both ends; SIZE_MAX where these may differ in it.
  std::size_t vector = SIZE_MAX;
  std::exception_ptr failure;  ///< set before `finished` when the operation failed
  /// Collectives: of a send, set by its owner, that the message travels without contents. Set by the messenger in the
  /// receive that matches it, which fails, while the communicator goes on. Its owner's to reset.
  std::shared_ptr<const poison> poisoned;

  /// The messenger's own.
  enum class stage : std::uint8_t {
    idle,
    posted,            ///< a receive that nothing has matched
    landing,           ///< a receive whose payload arrives in pieces
    waiting_for_room,  ///< a send behind others in its peer's queue
    waiting_for_grant,
    departing,        ///< a send whose payload leaves in pieces
    waiting_at_home,  ///< a send to a rank of this process that has not posted its receive
    ended,
  };
  stage now = stage::idle;
  bool is_send = false;
  ticks begun_at = 0;                           ///< for the trace; 0: it is not recorded
  std::uint8_t inquiries = 0;                   ///< how often it was found to wait long
  bool in_mailbox = false;                      ///< a receive that a message may still match
  boost::intrusive::list_member_hook<> active;  ///< among its participant's operations
  boost::intrusive::list_member_hook<> queued;  ///< in the index or queue that it waits in
  void* transfer_state = nullptr;               ///< its landing, departure or unexpected message

  void begin(engine& by) noexcept final;

 protected:
  operation() = default;
  operation(const operation&) = delete;
  operation& operator=(const operation&) = delete;
};

inline constexpr int any_peer = -1;
inline constexpr std::uint64_t any_message_tag = ~std::uint64_t{0};

struct send_operation : operation {
  send_operation() { is_send = true; }
  const std::byte* data = nullptr;
  bool synchronous = false;  ///< messages: it ends once a receive has met it, however short it is
  bool may_wait = false;     ///< messages: it may leave in the next poll, with others to the same process
};

struct receive_operation : operation {
  std::byte* data = nullptr;
  int source = -1;                 ///< what came: its rank,
  std::uint64_t received_tag = 0;  ///< its tag,
  std::size_t received = 0;        ///< and its length in bytes
  std::uint64_t aside = 0;         ///< set by its owner: gets the message set aside under this number (probe)
  std::uint64_t order = 0;         ///< the messenger's: when it was posted
};

}  // namespace weft::fabric
