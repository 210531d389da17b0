// SPDX-License-Identifier: Apache-2.0
// Calls as the trace shows them.
#pragma once

#include <cstddef>
#include <optional>
#include <weft/calls/communicator_state.hpp>
#include <weft/runtime/trace.hpp>

namespace weft::detail {

/// The rank's number in the job, by which the trace names it; nobody's where it is anybody.
int traced_rank(const communicator_state& state, int rank) noexcept;

/// What is known of a collective that has begun, or of a message.
trace::record traced_collective(communicator_state& state, const request& call, trace::form made) noexcept;
trace::record traced_message(const communicator_state& state, const char* name, std::size_t bytes, int peer,
                             std::int64_t tag, trace::form made) noexcept;

/// While it lives its rank makes a collective that blocks.
class traced_collective_call {
 public:
  traced_collective_call(communicator_state& state, const request& call) : state_(state), call_(call) {
    if (state.records != nullptr) [[unlikely]]
      begin();
  }
  traced_collective_call(const traced_collective_call&) = delete;
  traced_collective_call& operator=(const traced_collective_call&) = delete;
  ~traced_collective_call() {
    if (state_.records != nullptr) [[unlikely]]
      end();
  }

 private:
  void begin() noexcept;
  void end() noexcept;

  communicator_state& state_;
  const request& call_;
  union {
    trace::on_track_of_call here_;  // lives where something is recorded
  };
  union {
    trace::marks marks_;  // likewise
  };
  const known_call* known_;  ///< the team leaves them there, and this is recorded; null: neither
};

/// While it lives its rank makes another call that blocks.
class traced_call {
 public:
  traced_call(const communicator_state& state, const char* name, std::size_t bytes = 0, int peer = -1,
              std::int64_t tag = -1) {
    if (state.records == nullptr) [[likely]]
      return;
    here_.emplace(*state.records);
    its_ = traced_message(state, name, bytes, peer, tag, trace::form::blocking);
    its_.begin = ticks_now();
  }
  traced_call(const traced_call&) = delete;
  traced_call& operator=(const traced_call&) = delete;
  ~traced_call() {
    if (here_) [[unlikely]]
      end();
  }

 private:
  void end() noexcept;

  std::optional<trace::on_track_of_call> here_;
  union {
    trace::record its_;  // as above
  };
};

/// While it lives its rank waits for another.
class traced_wait : public trace::part {
 public:
  traced_wait(const communicator_state& state, int rank) noexcept
      : part(trace::kind::wait, "wait", 0, state.records != nullptr ? traced_rank(state, rank) : -1) {}
};

}  // namespace weft::detail
