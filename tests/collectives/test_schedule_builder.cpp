// SPDX-License-Identifier: Apache-2.0
// What a schedule knows of its call.
#include <cstddef>
#include <cstdint>
#include <vector>
#include <weft/choice/schedule_builder.hpp>

#include "catch.hpp"

using weft::detail::collective_call;
using weft::schedules::collective;

TEST_CASE("a schedule knows the length of the vector where all ranks do") {
  struct its {
    collective what;
    std::vector<std::size_t> counts;
    bool at_root;
    std::size_t bytes;
  };
  const auto one = GENERATE(values<its>({
      {collective::allreduce, {}, false, 40},
      {collective::broadcast, {}, false, 40},
      {collective::allgather, {}, false, 120},
      {collective::alltoall, {}, false, 120},
      {collective::allgather, {3, 0, 4}, false, 28},
      {collective::gather, {3, 0, 4}, false, 28},
      {collective::gather, {3, 0, 4}, true, SIZE_MAX},              // as the root knows them
      {collective::alltoall, {1, 2, 3, 1, 5, 6}, false, SIZE_MAX},  // each rank its own
  }));
  CAPTURE(static_cast<int>(one.what), one.counts, one.at_root);
  for (const auto& how : weft::schedules::algorithms_of(one.what)) {
    if (how.pattern != weft::schedules::memory_pattern::none) continue;
    CAPTURE(how.name);
    collective_call call;
    call.how = &how;
    call.count = one.counts.empty() ? 10 : 0;
    call.element_bytes = 4;
    call.counts = one.counts;
    call.at_root = one.at_root;
    CHECK(weft::detail::build_schedule(call, {3, 0}, {})->vector_bytes == one.bytes);
  }
}
