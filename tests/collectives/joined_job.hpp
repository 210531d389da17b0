// SPDX-License-Identifier: Apache-2.0
// Jobs whose processes host several ranks.
#pragma once

#include <utility>
#include <vector>

#include "run_ranks.hpp"

namespace weft_test {

/// So many ranks in each process, on so many threads.
inline job joined_job(std::vector<int> ranks_of, int workers) {
  job what = small_job(static_cast<int>(ranks_of.size()));
  what.ranks_of = std::move(ranks_of);
  what.settings.workers = workers;
  return what;
}

inline job joined_job(int processes, int ranks_per_process, int workers) {
  job what = small_job(processes, ranks_per_process);
  what.settings.workers = workers;
  return what;
}

}  // namespace weft_test
