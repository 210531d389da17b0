#include <weft/schedules/tree_reduce.hpp>

namespace weft::schedules {

void binomial_reduce(int ranks, int root, int rank, const pipeline& by, sink& to) {
  tree_reduce(binomial_position(ranks, root, rank), by, to);
}

}  // namespace weft::schedules
