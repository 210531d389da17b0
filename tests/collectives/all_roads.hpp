// SPDX-License-Identifier: Apache-2.0
// Small jobs whose calls take every road that there is.
#pragma once

#include <utility>

#include "run_ranks.hpp"

namespace weft_test {

/// Of the memory of a process, that of a node, messages, and two of these.
inline job jobs_of_all_roads() {
  const auto [processes, each] = GENERATE(std::pair(1, 1), std::pair(1, 3), std::pair(3, 1), std::pair(2, 2));
  job what = small_job(processes, each);
  if (processes == 3 && GENERATE(true, false)) what.nodes = {"a", "b", "a"};
  return what;
}

}  // namespace weft_test
