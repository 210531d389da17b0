// SPDX-License-Identifier: Apache-2.0
#include "layouts.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "arguments.hpp"

namespace weft::schedules {

layout alltoall_layout(int ranks, int rank) {
  check_rank(ranks, rank, "rank");
  if (ranks > 65535)
    throw std::invalid_argument("an all-to-all is among 65535 ranks at most, not " + std::to_string(ranks));
  const auto n = static_cast<std::uint32_t>(ranks);
  layout cut;
  cut.chunks = n * n;
  cut.input = block_range{chunk_between(ranks, rank, 0).first, n};
  cut.output = {chunk_between(ranks, 0, rank), n, n};
  return cut;
}

layout layout_of(collective what, int ranks, std::size_t count) {
  layout cut;
  cut.segments = static_cast<std::uint32_t>(std::max<std::size_t>(count, 1));
  const auto each = static_cast<std::uint32_t>(ranks);
  if (what == collective::alltoall)
    cut.chunks = each * each;
  else if (has_blocks(what))
    cut.chunks = each;
  return cut;
}

block_set held(collective what, const layout& cut, int of_ranks, int root, int member, buffer in) {
  const bool is_root = member == root, is_input = in == buffer::input;
  const auto each = cut.segments, ranks = static_cast<std::uint32_t>(of_ranks),
             mine = static_cast<std::uint32_t>(member);
  const block_set none, all(block_range{0, cut.chunks * each}), own(block_range{mine * each, each});
  switch (what) {
    case collective::barrier:
      return none;
    case collective::reduce:
      return is_input || is_root ? all : none;
    case collective::broadcast:
      return !is_input || is_root ? all : none;
    case collective::allreduce:
    case collective::scan:
      return all;
    case collective::exscan:
      return is_input || member != 0 ? all : none;
    case collective::reduce_scatter:
      return is_input ? all : own;
    case collective::allgather:
      return is_input ? own : all;
    case collective::gather:
      return is_input ? own : is_root ? all : none;
    case collective::scatter:
      return !is_input ? own : is_root ? all : none;
    case collective::alltoall:
      if (is_input) return block_range{mine * ranks * each, ranks * each};
      return {block_range{mine * each, each}, ranks, ranks * each};
  }
  return none;
}

}  // namespace weft::schedules
