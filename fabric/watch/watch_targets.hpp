// SPDX-License-Identifier: Apache-2.0
// Whom a process watches: of 12 processes, 3 has died, and process 0 watches
//
//     0   1   2   3   4   5   6   7   8   9  10  11
//     |---^   ^       ^               ^                   0+1, 0+2, 0+4, 0+8
//     2 watches 4 in the place of 3, and 4 again for 2+2: 2 watches 4, 6, 10.
//
// The nearest watched processes close a ring of the living, so those that live are always connected.
#pragma once

#include <algorithm>
#include <concepts>
#include <vector>

namespace weft::fabric {

/// The processes that `self` watches, of those in 0 .. processes - 1 for which `alive` holds; each once.
std::vector<int> watch_targets(int self, int processes, const std::predicate<int> auto& alive) {
  std::vector<int> result;
  for (long long offset = 1; offset < processes; offset *= 2) {
    int target = static_cast<int>((self + offset) % processes);
    while (target != self && !alive(target)) target = (target + 1) % processes;
    if (target != self && std::ranges::find(result, target) == result.end()) result.push_back(target);
  }
  return result;
}

}  // namespace weft::fabric
