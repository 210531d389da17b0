// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <weft/request/request_shape.hpp>

namespace weft::detail {

request_shape shape_of(const request& call, int rank, int ranks) {
  const bool root = rank == call.root;
  request_shape shape;
  shape.with_input = call.what != collective::barrier && (call.what != collective::scatter || root);
  switch (call.what) {
    case collective::reduce:
    case collective::gather:
      shape.with_output = root;
      break;
    case collective::exscan:
      shape.with_output = rank != 0;
      break;
    case collective::barrier:
      shape.with_output = false;
      break;
    default:
      break;
  }
  const auto n = static_cast<std::size_t>(ranks);
  if (!schedules::has_blocks(call.what)) {
    shape.vector = call.in_count;
  } else if (call.what == collective::alltoall) {
    shape.vector = std::max(call.in_count, call.out_count);
    shape.block = shape.vector / n;
  } else if (call.at_root && !root) {
    shape.vector = shape.block = call.what == collective::gather ? call.in_count : call.out_count;
  } else if (call.uneven) {
    const auto own = call.counts.begin() + rank;
    shape.vector = std::accumulate(call.counts.begin(), call.counts.end(), std::size_t{0});
    shape.block = *own;
    shape.before = call.displaced ? call.displacements[static_cast<std::size_t>(rank)]
                                  : std::accumulate(call.counts.begin(), own, std::size_t{0});
  } else {
    shape.block = has_input_blocks(call.what) ? call.out_count : call.in_count;
    shape.vector = shape.block * n;
    shape.before = shape.block * static_cast<std::size_t>(rank);
  }
  return shape;
}

}  // namespace weft::detail
