// SPDX-License-Identifier: Apache-2.0
// Calls as the trace shows them.
#pragma once

#include <cstddef>
#include <weft/calls/communicator_state.hpp>
#include <weft/runtime/trace.hpp>

namespace weft::detail {

/// The rank's number in the job, by which the trace names it; nobody's where it is anybody.
int traced_rank(const communicator_state& state, int rank) noexcept;

/// What is known of a collective that has begun, or of a message. Noticeably cheaper than the call itself.
trace::record traced_collective(communicator_state& state, const request& call, trace::form made) noexcept;
trace::record traced_message(const communicator_state& state, const char* name, std::size_t bytes, int peer, int tag,
                             trace::form made) noexcept;

/// While it lives its rank makes a collective that blocks.
class traced_collective_call {
 public:
  traced_collective_call(communicator_state& state, const request& call) noexcept
      : state_(state), call_(call), recorded_(state.records) {}
  traced_collective_call(const traced_collective_call&) = delete;
  traced_collective_call& operator=(const traced_collective_call&) = delete;
  ~traced_collective_call() {
    if (recorded_) [[unlikely]]
      describe();
  }

 private:
  void describe() noexcept;

  communicator_state& state_;
  const request& call_;
  trace::recording recorded_;
};

/// While it lives its rank makes another call that blocks.
class traced_call {
 public:
  traced_call(const communicator_state& state, const char* name, std::size_t bytes = 0, int peer = -1,
              int tag = -1) noexcept
      : recorded_(state.records) {
    if (recorded_) [[unlikely]]
      describe(state, name, bytes, peer, tag);
  }

 private:
  void describe(const communicator_state& state, const char* name, std::size_t bytes, int peer, int tag) noexcept;

  trace::recording recorded_;
};

/// While it lives its rank waits for another.
class traced_wait : public trace::part {
 public:
  traced_wait(const communicator_state& state, int rank) noexcept
      : part(trace::kind::wait, "wait", 0, state.records != nullptr ? traced_rank(state, rank) : -1) {}
};

}  // namespace weft::detail
