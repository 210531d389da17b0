// SPDX-License-Identifier: Apache-2.0
// How a communicator is made of the ranks of another one: each offers itself, all hear of all, and each joins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <weft/api/gathered.hpp>
#include <weft/calls/communicator_state.hpp>
#include <weft/communicator.hpp>

namespace weft::detail {

/// What each rank says of itself where a communicator is divided.
struct part {
  static constexpr std::int64_t nobody = -1;
  std::int64_t colour = nobody;  ///< which of the new communicators it joins; negative: none
  std::int64_t key = 0;          ///< where in it: by key, then by rank
  std::uint64_t terms = 0;       ///< what all must have alike
  /// Of a communicator that this rank would lead. Used or not: where this fails, others may have got that far.
  std::uint64_t number = 0;
  /// Of this rank's process, in the arena: for a communicator in which it is the first of it.
  fabric::board_ticket board{};
};

/// What this rank says of itself, from then on until it has joined.
class offer {
 public:
  /// By the rank, in its `rank_identity::dividing`: from now on others may get the communicator that it is in then.
  offer(communicator_state& state, const part& as);
  offer(const offer&) = delete;
  offer& operator=(const offer&) = delete;
  /// Where it has not joined: others that have got the communicator hear that they miss it. Does not block.
  ~offer();

  const part& says() const noexcept { return says_; }
  /// The communicator of its colour; none where that is negative. Does not block. Any thread.
  std::optional<communicator> join(std::span<const part> all);

 private:
  communicator_state& state_;
  part says_;
  bool has_joined_ = false;
};

/// What all ranks say of themselves.
class parts : public gathered<part> {
 public:
  /// Once it is over. Throws errc::mismatched_call where their terms differ.
  std::span<const part> all(const communicator_state& state, const char* operation) const;
};

/// For tests: how communicators are named.
struct communicator_names {
  /// The next communicator that the rank leads, which this one is of, gets a counter no less than that.
  static void go_on_from(communicator& of, std::uint64_t counter) noexcept;
  static std::uint64_t id_of(const communicator& one) noexcept;
};

}  // namespace weft::detail
