#include "alltoall_layout.hpp"

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

}  // namespace weft::schedules
