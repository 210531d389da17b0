#include <stdexcept>
#include <weft/schedules/ordered_reduce.hpp>

#include "catch.hpp"
#include "jobs.hpp"

using namespace weft::schedules;
using weft_test::fault_in;
using weft_test::schedules_of;

TEST_CASE("an ordered reduction verifies and combines in the order of the ranks, whatever its root") {
  for (int ranks = 1; ranks <= 20; ++ranks)
    for (int root = 0; root < ranks; ++root)
      for (const pipeline by : {pipeline{1, 1}, pipeline{1, 4}, pipeline{3, 1}, pipeline{4, 2}}) {
        CAPTURE(ranks, root, by.segments, by.window);
        const auto all = schedules_of(ranks, [&](int rank, sink& to) { ordered_reduce(ranks, root, rank, by, to); });
        REQUIRE(fault_in({collective::reduce, root}, all) == "");
        REQUIRE(keeps_rank_order({collective::reduce, root}, all));
      }
}

TEST_CASE("an ordered reduction names what is wrong with its arguments") {
  const auto built = [](int ranks, int root, int rank, pipeline by) {
    return built_by([&](sink& to) { ordered_reduce(ranks, root, rank, by, to); });
  };
  CHECK_THROWS_AS(built(4, 4, 0, {}), std::invalid_argument);
  CHECK_THROWS_AS(built(4, -1, 0, {}), std::invalid_argument);
  CHECK_THROWS_AS(built(4, 1, 4, {}), std::invalid_argument);
  CHECK_THROWS_AS(built(4, 1, 0, (pipeline{0, 1})), std::invalid_argument);
}
