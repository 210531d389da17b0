// Calls through memory that are over in one round, in two steps: for those that are started and then waited for.
#pragma once

#include <cstdint>
#include <optional>
#include <weft/calls/communicator_state.hpp>
#include <weft/calls/joined_call.hpp>
#include <weft/calls/kept_call.hpp>
#include <weft/team/node_team.hpp>

namespace weft::detail {

/// One rank's. Used by whoever goes on with the call, one at a time.
class call_in_steps {
 public:
  /// Of the call that is kept, in `at`; both outlive this.
  call_in_steps(communicator_state& at, kept_call& what) noexcept : at_(at), what_(what) {}

  /// Whether the call goes so, as number `sequence`. Once the calls before it are over. Throws std::bad_alloc.
  bool learn(std::uint32_t sequence);
  /// The first step: shows what this rank has, and does not block. Whether somebody has to go on with the second:
  /// others are too far behind for the first, or wait for it.
  bool show() {
    if (team_ == nullptr) return among_ranks_->start();
    reached_ = team_->show(what_.known.between);
    return reached_ == patterns::reached::begin;
  }
  /// The second, which blocks, and throws what a collective throws.
  void use_shown();

 private:
  communicator_state& at_;
  kept_call& what_;
  node_team* team_ = nullptr;  // among the processes of a node; else
  patterns::reached reached_ = patterns::reached::begin;
  std::optional<joined_call> among_ranks_;  // of this process
};

}  // namespace weft::detail
