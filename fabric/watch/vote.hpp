// SPDX-License-Identifier: Apache-2.0
// What a process says in a vote on who goes on (verdict.hpp), and how it travels.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace weft::fabric {

/// The number of a proposal; greater ones are later. Round 0 is none.
struct ballot {
  std::uint32_t round = 0;
  std::uint32_t proposer = 0;

  auto operator<=>(const ballot&) const = default;
};

/// Whom a process hears and whom it does not, of those that it is connected to or is to be, and whom it answers for;
/// each in ascending order.
struct hearing {
  std::vector<int> hears;   ///< or waits for no longer than it may
  std::vector<int> silent;  ///< for too long; they may live
  std::vector<int> held;    ///< of its host: something holds them (watch_held.cpp), so their silence means nothing

  bool operator==(const hearing&) const = default;
};

/// The whole of what a process has to say. A later one replaces it.
struct vote {
  std::uint32_t view = 0;      ///< how many verdicts it knows
  std::vector<bool> members;   ///< who goes on after these, of all processes
  ballot promised;             ///< it accepts no earlier one in this view
  ballot accepted;             ///< the latest one that it has accepted in this view
  std::vector<bool> chosen{};  ///< who goes on by that; empty without one
  hearing around;

  bool operator==(const vote&) const = default;
};

std::vector<std::byte> encode(const vote& said);

/// Throws errc::protocol for what no process of so many says.
vote decode_vote(std::span<const std::byte> bytes, int processes);

}  // namespace weft::fabric
