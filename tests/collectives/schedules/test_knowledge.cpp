// SPDX-License-Identifier: Apache-2.0
// What a rank knows of the others when its own call has returned: fabric/FAILURES.md says so where some return from a
// call that has failed and others throw.
#include <cstdint>

#include "catch.hpp"
#include "collectives/verifier/job.hpp"
#include "shapes.hpp"

using namespace weft::schedules;
using namespace weft_test;

namespace {

using ranks = std::uint32_t;  // a bit each

constexpr ranks only(int rank) { return ranks{1} << rank; }
constexpr ranks before(int rank) { return only(rank) - 1; }

/// Of each rank those that have begun the call, whatever order it goes in and however much is buffered, once all steps
/// of that rank have ended.
std::vector<ranks> have_begun(const purpose& meant, std::span<const schedule> schedules) {
  const job all(meant, schedules);
  std::vector<ranks> known(all.steps(), 0);  // when the step has ended
  const auto known_at_begin = [&](job_step s) {
    ranks begun = only(all.rank_of(s));
    all.for_each_before(s, [&](job_step earlier) { begun |= known[earlier]; });
    return begun;
  };
  for (bool learned = true; learned;) {
    learned = false;
    for (job_step s = 0; s < all.steps(); ++s) {
      ranks begun = known_at_begin(s);
      if (is_incoming(all.at(s).kind)) begun |= known_at_begin(all.partner(s));
      learned = learned || begun != known[s];
      known[s] = begun;
    }
  }
  std::vector<ranks> in_the_end(schedules.size());
  for (std::size_t rank = 0; rank < schedules.size(); ++rank) in_the_end[rank] = only(static_cast<int>(rank));
  for (job_step s = 0; s < all.steps(); ++s) in_the_end[static_cast<std::size_t>(all.rank_of(s))] |= known[s];
  return in_the_end;
}

/// Those that the table names.
ranks promised(const purpose& meant, int rank, int count) {
  const ranks all = before(count);
  switch (meant.kind) {
    case collective::broadcast:
    case collective::scatter:
      return only(meant.root);
    case collective::reduce:
    case collective::gather:
      return rank == meant.root ? all : 0;
    case collective::scan:
    case collective::exscan:
      return before(rank);
    default:
      return all;
  }
}

}  // namespace

TEST_CASE("who returns from a collective knows who has begun it") {
  for (const algorithm& by : algorithms())
    for (int n = 1; n <= 9; ++n)
      for_each_shape(by, n, [&](const algorithm_arguments& shape) {
        const auto schedules = schedules_of(by, shape);
        const purpose meant = meant_by(by, shape);
        const auto known = have_begun(meant, schedules);
        for (int rank = 0; rank < n; ++rank) {
          INFO(text_of(by, shape) << "; rank " << rank);
          const ranks expected = promised(meant, rank, n);
          REQUIRE((known[static_cast<std::size_t>(rank)] & expected) == expected);
        }
      });
}
