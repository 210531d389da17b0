// Which algorithm a collective takes: a pure function of what the job agreed on when it started, so that every rank
// chooses alike.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::schedules {

/// What the choice depends on beside the call; the same on every rank of the job.
struct selection_parameters {
  enum class allreduce_choice : std::uint8_t { by_size, recursive_doubling, ring };
  enum class reduce_choice : std::uint8_t { by_size, binomial, greedy };
  allreduce_choice allreduce = allreduce_choice::by_size;
  reduce_choice reduce = reduce_choice::by_size;
  std::size_t ring_threshold = 64 << 10;      ///< all-reduces of at least so many bytes take the ring,
  std::size_t ring_threshold_pair = 1 << 20;  ///< between two ranks, where both algorithms send as much
  std::size_t segment = 512 << 10;            ///< bytes in which a chunk is pipelined
  std::size_t in_order_limit = 8 << 10;       ///< messages up to so many bytes run in order on the caller's thread
};

struct selected_allreduce {
  bool ring = false;  ///< else recursive doubling
  std::uint32_t segments = 1;
  bool in_order = true;
};
selected_allreduce select_allreduce(const selection_parameters& agreed, int ranks, std::size_t bytes);

struct selected_tree {
  bool greedy = false;  ///< else binomial
  std::uint32_t segments = 1;
  bool in_order = true;
};
selected_tree select_reduce(const selection_parameters& agreed, int ranks, std::size_t bytes);
selected_tree select_broadcast(const selection_parameters& agreed, int ranks, std::size_t bytes);

}  // namespace weft::schedules
