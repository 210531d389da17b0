// SPDX-License-Identifier: Apache-2.0
// All-reduces of two ranks and one block, said step by step.
#pragma once

#include <string>
#include <vector>

#include "jobs.hpp"
#include "mutants.hpp"

namespace weft_test::pair {

using namespace weft::schedules;

inline const block_set one_block(block_range{0, 1});
inline const layout both{1, 1, one_block, one_block, 1, 1};
inline const segment input{me, buffer::input, 0, {0, 1}};
inline const segment output{me, buffer::output, 0, {0, 1}};
inline const segment slot{me, buffer::scratch, 0, {0, 1}};

/// An all-reduce of two ranks that do the same.
inline std::vector<schedule> two(const std::vector<said_step>& first, std::vector<said_step> second) {
  return {built(both, first), built(both, second)};
}
inline std::vector<said_step> facing(std::vector<said_step> steps, int peer) {
  for (said_step& s : steps)
    if (s.peer != -1) s.peer = peer;
  return steps;
}
inline std::string fault_in_pair(const std::vector<said_step>& steps) {
  return fault_in({collective::allreduce}, two(facing(steps, 1), facing(steps, 0)));
}

}  // namespace weft_test::pair
