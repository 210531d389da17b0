// SPDX-License-Identifier: Apache-2.0
// What tests run over every road that messages and collectives take.
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

/// The same of eight ranks.
inline job jobs_of_eight() {
  const auto [processes, each] = GENERATE(std::pair(1, 8), std::pair(8, 1), std::pair(4, 2));
  job what = small_job(processes, each);
  if (processes == 4) what.nodes = {"a", "a", "b", "b"};
  if (processes == 8 && GENERATE(true, false)) what.nodes = {"a", "b", "a", "b", "a", "b", "a", "b"};
  return what;
}

}  // namespace weft_test
