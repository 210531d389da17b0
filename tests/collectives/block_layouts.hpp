// SPDX-License-Identifier: Apache-2.0
// Calls with counts in all forms, and what their blocks hold.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "run_ranks.hpp"

namespace block_layouts {

using namespace weft_test;

/// In memory of a process, of a node, over the network, and mixed.
inline job some_ranks() {
  const int kind = GENERATE(range(0, 5));
  job what = kind == 0 ? small_job(1, 4) : kind == 1 ? small_job(4) : kind == 2 ? small_job(3) : small_job(2, 2);
  if (kind == 2) what.nodes = {"a", "b", "c"};
  if (kind == 3) what.nodes = {"a", "b"};
  return what;
}

enum class form { blocking, started, planned };
inline constexpr form all_forms[] = {form::blocking, form::started, form::planned};

/// Makes the call in a form, a planned one twice.
template <class Blocking, class Started, class Planned, class Check>
void call_as(form as, Blocking blocking, Started started, Planned planned, Check check) {
  switch (as) {
    case form::blocking:
      blocking();
      return check();
    case form::started:
      started().wait();
      return check();
    case form::planned: {
      weft::plan made = planned();
      for (int run = 0; run < 2; ++run) {
        made.start();
        made.wait();
        check();
      }
    }
  }
}

/// Of rank r: none, fewer than are sent without asking, and more.
inline std::vector<std::size_t> counts_of(int ranks, std::size_t scale) {
  std::vector<std::size_t> all;
  for (int r = 0; r < ranks; ++r) all.push_back(r % 3 == 1 ? 0 : scale * static_cast<std::size_t>(r + 1) + 1);
  return all;
}

inline int value(int from, int to, std::size_t i) {
  return from * 1'000'000 + to * 10'000 + static_cast<int>(i % 9'999);
}

inline std::vector<int> block(int from, int to, std::size_t count) {
  std::vector<int> made(count);
  for (std::size_t i = 0; i < count; ++i) made[i] = value(from, to, i);
  return made;
}

/// A buffer whose blocks lie there; -1 between them.
template <class Block>
std::vector<int> laid_out(const std::vector<std::size_t>& counts, const std::vector<std::size_t>& places,
                          std::size_t room, Block block_of) {
  std::vector<int> all(room, -1);
  for (std::size_t r = 0; r < counts.size(); ++r) {
    const std::vector<int> its = block_of(static_cast<int>(r), counts[r]);
    std::copy(its.begin(), its.end(), all.begin() + static_cast<std::ptrdiff_t>(places[r]));
  }
  return all;
}

inline std::vector<std::size_t> one_after_another(const std::vector<std::size_t>& counts) {
  std::vector<std::size_t> all(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), all.begin(), std::size_t{0});
  return all;
}

}  // namespace block_layouts
