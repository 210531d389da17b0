// SPDX-License-Identifier: Apache-2.0
// Messages of ranks, from their calls to the messenger.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>
#include <weft/calls/argument_checks.hpp>
#include <weft/calls/pending.hpp>
#include <weft/calls/recycled.hpp>
#include <weft/calls/time_out.hpp>
#include <weft/calls/traced_call.hpp>
#include <weft/fabric/awaited.hpp>
#include <weft/handle.hpp>
#include <weft/runtime/event.hpp>
#include <weft/runtime/time_limit.hpp>
#include <weft/status.hpp>

namespace weft::detail {

using fabric::awaited;

/// Nobody where it is anybody.
inline std::vector<int> named(int peer) { return peer < 0 ? std::vector<int>() : std::vector<int>{peer}; }

inline status status_of(const fabric::receive_operation& ended) {
  return {ended.source, static_cast<std::int64_t>(ended.received_tag), ended.received};
}

class pending_receive final : public pending, public recycled<pending_receive, most_recycled> {
 public:
  using pending::pending;
  std::vector<int> missing() const override { return named(operation.peer); }
  event& done() noexcept override { return operation.done; }
  const std::exception_ptr& failure() const noexcept override { return operation.failure; }
  status result() const noexcept override { return status_of(operation); }
  // As the base's, without a call for each part: of every message.
  status finish() override {
    if (operation.failure != nullptr) [[unlikely]]
      raise();
    return status_of(operation);
  }
  void retire() noexcept override { delete this; }
  bool cancel() noexcept override { return state().host.messages().cancel(operation); }
  awaited<fabric::receive_operation> operation;
};

inline std::uint64_t wire_tag(std::int64_t tag) {
  return tag == any_tag ? fabric::any_message_tag : static_cast<std::uint64_t>(tag);
}

/// Throws errc::invalid_argument where a message of `data` cannot be, or a receive into it.
template <class Byte>
[[gnu::always_inline]] inline void check_message(const communicator_state& state, const char* name,
                                                 std::span<Byte> data, int peer, std::int64_t tag) {
  constexpr bool receives = !std::is_const_v<Byte>;
  check_rank(state, name, receives ? "source" : "destination", peer, receives);
  check_tag(state, name, tag, receives);
  check_memory(state, name, data.data(), data.size());
}

/// Puts what has been checked into a send of `data` to `peer`, or a receive from it.
template <class Operation, class Byte>
void prepare_message(Operation& begun, communicator_state& state, std::span<Byte> data, int peer, std::int64_t tag) {
  begun.at = &state.member;
  begun.peer = peer;
  begun.tag = wire_tag(tag);
  begun.data = data.data();
  begun.bytes = data.size();
}

/// Posts `operation`; a progress thread that sleeps is told.
inline void post(communicator_state& state, fabric::operation& operation) {
  state.host.messages().post(operation);
  if (state.host.moved_by().threaded()) state.host.moved_by().notify();
}

/// One that is about to be posted.
template <class Pending>
void note_start(Pending& begun, const char* name, std::int64_t tag) {
  if (begun.state().records == nullptr) return;
  const fabric::operation& its = begun.operation;
  begun.note_start(traced_message(begun.state(), name, its.bytes, its.peer, tag, trace::form::started), ticks_now());
}

/// A trace names what its starts are.
template <class Planned>
void note_plan(Planned& made, const char* name, std::size_t bytes, int peer, std::int64_t tag) {
  if (made.state().records != nullptr)
    made.note_as(traced_message(made.state(), name, bytes, peer, tag, trace::form::planned));
}

/// Waits for calls that have been started in place of one that blocks: what came of the first. Those that are not done
/// in time are the error's.
inline status finish_until(const time_limit& limit, communicator_state& state, const char* name,
                           std::vector<handle> begun, std::vector<int> peers) {
  for (handle& each : begun)
    if (!each.wait_until(limit.when())) throw_timed_out(where(state, name), std::move(peers), std::move(begun));
  const status first = begun[0].wait();
  for (handle& each : std::span(begun).subspan(1)) each.wait();
  return first;
}

/// Waits for an operation on this stack.
template <class Operation>
void await(communicator_state& state, awaited<Operation>& operation) {
  if (operation.done.ready()) return;
  const traced_wait traced(state, operation.peer);
  operation.done.wait(state.host.moved_by());
}

/// The same, and throws what it failed with.
template <class Operation>
void finish(communicator_state& state, const char* name, awaited<Operation>& operation) {
  await(state, operation);
  if (operation.failure != nullptr) rethrow(state, name, operation.failure);
}

}  // namespace weft::detail
