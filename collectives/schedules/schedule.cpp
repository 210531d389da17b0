// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <weft/schedules/schedule.hpp>

namespace weft::schedules {

std::size_t first_of_part(std::size_t whole, std::size_t parts, std::size_t part) {
  return part * (whole / parts) + std::min(part, whole % parts);
}

std::size_t first_element(const layout& cut, std::size_t elements, std::uint32_t block) {
  const std::size_t chunk = block / cut.segments;
  const std::size_t part = block % cut.segments;
  const std::size_t first = first_of_part(elements, cut.chunks, chunk);
  if (part == 0) return first;
  return first + first_of_part(first_of_part(elements, cut.chunks, chunk + 1) - first, cut.segments, part);
}

element_range elements_of(const layout& cut, std::size_t elements, block_range blocks) {
  const std::size_t first = first_element(cut, elements, blocks.first);
  return {first, first_element(cut, elements, blocks.first + blocks.count) - first};
}

std::size_t most_elements(const layout& cut, std::size_t elements, std::uint32_t count) {
  // No blocks in a row hold more than the first ones: longer chunks come first, and in a chunk the longer segments.
  return first_element(cut, elements, std::min(count, cut.chunks * cut.segments));
}

}  // namespace weft::schedules
