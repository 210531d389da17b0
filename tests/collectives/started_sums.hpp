// SPDX-License-Identifier: Apache-2.0
// Calls that one rank starts before any other rank does.
#pragma once

#include <cstddef>
#include <vector>
#include <weft/communicator.hpp>
#include <weft/wait.hpp>

#include "expect.hpp"

namespace weft_test {

/// Starts so many all-reduces of vectors of that length, on rank 0 all of them before the other ranks start any, and
/// expects the sums of all ranks' numbers, which are 1, 2, 3, ...
inline void start_sums_on_rank_0_first(weft::communicator& world, std::size_t calls, std::size_t length) {
  std::vector<std::vector<int>> numbers(calls, std::vector<int>(length, world.rank() + 1));
  std::vector<int> go(1);
  if (world.rank() != 0) world.recv(go, 0, 5);
  std::vector<weft::handle> all;
  for (auto& each : numbers) all.push_back(world.iallreduce(each, each, weft::sum));
  if (world.rank() == 0)
    for (int to = 1; to < world.size(); ++to) world.send(go, to, 5);
  weft::wait_all(all);
  for (const auto& each : numbers)
    expect(each.back() == world.size() * (world.size() + 1) / 2, "the sum, got ", each.back());
}

}  // namespace weft_test
