#include <weft/schedules/tree_broadcast.hpp>

namespace weft::schedules {

void binomial_broadcast(int ranks, int root, int rank, const pipeline& by, sink& to) {
  tree_broadcast(binomial_position(ranks, root, rank), by, to);
}

}  // namespace weft::schedules
