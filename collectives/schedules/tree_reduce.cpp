#include <algorithm>
#include <cstddef>
#include <weft/schedules/tree_reduce.hpp>

#include "arguments.hpp"
#include "phases.hpp"

namespace weft::schedules {
namespace {

/// One is made while another is sent.
constexpr std::uint32_t sums_at_once = 2;

}  // namespace

void tree_reduce(const tree_position& place, const pipeline& by, sink& to) {
  check_pipeline(by);
  const block_range vector{0, by.segments}, none{};
  const bool leaf = place.children.empty(), head = place.parent == -1;
  const auto slots = static_cast<std::uint32_t>(std::min<std::size_t>(by.window, place.children.size() * by.segments));
  const std::uint32_t sums = head || leaf ? 0 : std::min(sums_at_once, by.segments);
  memory_emitter emit(
      to, {1, by.segments, vector, head || place.result_from != -1 ? vector : none, slots + sums, leaf ? 0u : 1u},
      by.window);
  emit.begin_beside(0, slots);
  reduce_over_tree(emit, place, vector, by.segments, {!head, slots, sums});
  if (head) emit.settle(vector);
}

}  // namespace weft::schedules
