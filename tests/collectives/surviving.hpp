// SPDX-License-Identifier: Apache-2.0
// Jobs some of whose ranks are lost.
#pragma once

#include <cstdint>
#include <vector>

#include "run_ranks.hpp"

namespace weft_test {

struct vanished {};

constexpr int kinds_of_job = 4;

/// Jobs in memory, over the network, and both; with one rank a process and several.
inline job job_of(int kind, int processes) {
  job what = kind < 2 ? small_job(processes) : small_job(processes, 2);
  if (kind % 2 == 1)
    for (int p = 0; p < processes; ++p) what.nodes.push_back(p % 2 == 0 ? "a" : "b");
  return what;
}

/// Sums over `all` and checks it.
inline void use(weft::communicator& all) {
  for (const std::size_t count : {1, 3000}) {
    std::vector<std::int64_t> in(count, all.rank() + 1), out(count);
    all.allreduce(in, out, weft::sum);
    const std::int64_t expected = std::int64_t{all.size()} * (all.size() + 1) / 2;
    expect(out.front() == expected && out.back() == expected, "the sum of all that live");
  }
}

}  // namespace weft_test
