// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <weft/schedules/builders.hpp>
#include <weft/schedules/every_rank.hpp>
#include <weft/schedules/reduction_tree.hpp>

namespace weft::schedules {

steps_of_rank steps_of(const algorithm& how, const algorithm_arguments& shape) {
  if (how.shape != nullptr)
    return [by = shape.by, over = std::make_shared<const rank_ordered_tree>(reduction_tree(how.shape, shape))](
               int rank, sink& to) { tree_reduce(over->position(rank), by, to); };
  return [emit = how.emit, of = shape](int rank, sink& to) mutable {
    of.rank = rank;
    emit(of, to);
  };
}

partition counts_of(collective kind, int ranks, std::size_t bytes) {
  return bytes * (kind == collective::alltoall ? static_cast<std::size_t>(ranks) : 1);
}

}  // namespace weft::schedules
