// SPDX-License-Identifier: Apache-2.0
// Calls among processes of one node, of every length that goes a road of its own.
#pragma once

#include <cstdint>
#include <random>
#include <weft/api/choices.hpp>

#include "collective_cases.hpp"
#include "run_ranks.hpp"

namespace weft_test {

/// Any collectives, of lengths that fit a line, a slot, some slots, or that are read.
inline void call_anything(weft::communicator& world, int calls, std::uint64_t seed) {
  using weft::schedules::collective;
  std::mt19937_64 random(seed);
  const auto below = [&](std::size_t end) { return static_cast<std::size_t>(random() % end); };
  for (int i = 0; i < calls; ++i) {
    collective_case c;
    c.what = static_cast<collective>(below(weft::schedules::collectives));
    const bool blocks = weft::schedules::has_blocks(c.what);
    const bool long_blocks = c.what == collective::allgather || c.what == collective::gather;
    const std::size_t longest[]{8, 1100, 3000, 60000};
    c.count = below(longest[below(4)]);
    if (blocks && !(long_blocks && below(3) == 0)) c.count /= static_cast<std::size_t>(world.size());
    c.uneven = blocks && below(2) == 0;
    draw_terms(c, world.size(), random);
    check_case(world, c);
  }
}

inline bool on_node(weft::communicator& world, weft::schedules::collective what) {
  return weft::detail::choices::on_node(world, what);
}

}  // namespace weft_test
