// SPDX-License-Identifier: Apache-2.0
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
  /// What is left behind the first step.
  enum class left : unsigned char {
    nothing,   ///< but the second, which does not block
    own_part,  ///< to wait for others, for this rank alone
    more,      ///< others are too far behind for the first, or wait for the second: somebody has to go on with it
  };
  /// The first step: shows what this rank has, and does not block.
  left show() {
    if (team_ == nullptr) return among_ranks_->start() ? left::more : left::own_part;
    reached_ = team_->show(what_.known.between);
    if (reached_ == patterns::reached::await) return left::own_part;
    return reached_ == patterns::reached::begin ? left::more : left::nothing;
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
