// The ranks of a ring.
#pragma once

#include <vector>
#include <weft/schedules/pipeline.hpp>

namespace weft::schedules {

struct ring {
  int ranks = 1;
  /// The ranks as they follow one another around; empty: 0, 1, 2, ... A depth-first order of the machines loads every
  /// link of a tree of switches once (Patarasuk and Yuan 2009).
  std::vector<int> order;
  pipeline by;
};

}  // namespace weft::schedules
