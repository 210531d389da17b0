// SPDX-License-Identifier: Apache-2.0
// What is left where a deadline passes.
#pragma once

#include <memory>
#include <string>
#include <vector>
#include <weft/calls/communicator_state.hpp>
#include <weft/deadline.hpp>

namespace weft::detail {

struct timed_out_calls final : left_in_flight {
  ~timed_out_calls() { timed_out_calls::drop(); }
  void drop() noexcept override;

  std::vector<int> missing;
  std::vector<handle> calls;
};

/// The ranks that the collectives of this rank wait for, as far as this process knows, ascending: those that have not
/// sent what is to be received, have not taken what is sent, or are behind in the memory of the node. `latest`: it
/// waits for the latest one that it has begun, and so for all ranks of this process that have not begun that, where
/// they meet.
std::vector<int> awaited_ranks(communicator_state& state, bool latest);

/// Throws timed_out, which owns `calls`.
[[noreturn]] void throw_timed_out(const std::string& where, std::vector<int> missing, std::vector<handle> calls = {});

}  // namespace weft::detail
