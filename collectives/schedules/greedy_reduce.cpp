#include <weft/schedules/tree_reduce.hpp>

namespace weft::schedules {

void greedy_reduce(int ranks, int root, double transfer, double compute, int rank, const pipeline& by, sink& to) {
  tree_reduce(greedy_tree(ranks, root, transfer, compute).position(rank), by, to);
}

}  // namespace weft::schedules
