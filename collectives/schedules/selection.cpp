#include <algorithm>
#include <weft/schedules/selection.hpp>

namespace weft::schedules {
namespace {

/// More segments than this cost more in steps than pipelining gains.
constexpr std::size_t most_segments = 256;

std::uint32_t segments_for(std::size_t bytes, std::size_t segment) {
  return static_cast<std::uint32_t>(std::clamp<std::size_t>((bytes + segment - 1) / segment, 1, most_segments));
}

selected_tree select_tree(const selection_parameters& agreed, std::size_t bytes) {
  return {false, segments_for(bytes, agreed.segment), bytes <= agreed.in_order_limit};
}

}  // namespace

selected_allreduce select_allreduce(const selection_parameters& agreed, int ranks, std::size_t bytes) {
  using choice = selection_parameters::allreduce_choice;
  const std::size_t threshold = ranks == 2 ? agreed.ring_threshold_pair : agreed.ring_threshold;
  const bool ring = agreed.allreduce == choice::ring || (agreed.allreduce == choice::by_size && bytes >= threshold);
  if (!ring) return {false, 1, bytes <= agreed.in_order_limit};
  const std::size_t chunk = bytes / static_cast<std::size_t>(std::max(ranks, 1));
  return {true, segments_for(chunk, agreed.segment), false};
}

selected_tree select_reduce(const selection_parameters& agreed, int, std::size_t bytes) {
  selected_tree chosen = select_tree(agreed, bytes);
  // The greedy tree is optimal for messages that are sent as one; for short ones its shape is binomial or better.
  chosen.greedy = agreed.reduce != selection_parameters::reduce_choice::binomial;
  return chosen;
}

selected_tree select_broadcast(const selection_parameters& agreed, int, std::size_t bytes) {
  return select_tree(agreed, bytes);
}

}  // namespace weft::schedules
