// Reduce-scatters among processes of one node. Each process combines its own block alone, out of what all write, or of
// what it reads of their memory. In place the output is the process's own block of its input, which nobody else reads.
#include <algorithm>
#include <cstring>
#include <weft/request.hpp>

#include "block_places.hpp"
#include "node_road.hpp"

namespace weft::detail {

bool node_road::reduce_scatter(const leader_call& call) {
  const std::size_t element = call.of->element_bytes;
  const block_places places = places_of(call);
  const int self = static_cast<int>(rounds_.self());
  const range mine{places.begin(self) / element, places.bytes_of(self) / element};
  const std::size_t others = call.count * element / rounds_.size() * (rounds_.size() - 1);
  return is_long(call.what, others) ? reduce_scatter_by_reading(call, mine) : reduce_scatter_in_pieces(call, mine);
}

bool node_road::reduce_scatter_in_pieces(const leader_call& call, range mine) {
  const std::size_t element = call.of->element_bytes, each = fabric::arena_slot_bytes / element;
  const bool in_lines = call.count * element <= fabric::arena_line_bytes && !custom_;
  std::size_t done = 0;
  do {
    const std::size_t some = std::min(each, call.count - done);
    if (!begin()) return false;
    const std::size_t first = std::clamp(mine.first, done, done + some);
    const std::size_t end = std::clamp(mine.first + mine.count, done, done + some);
    const auto give = [&](std::size_t from, std::size_t to) {  // nobody else reads this process's own block
      if (from < to)
        std::memcpy(place(rounds_.self(), in_lines) + (from - done) * element, call.in + from * element,
                    (to - from) * element);
    };
    give(done, first);
    give(end, done + some);
    publish(call.poisoned);
    if (!await_operands()) return false;
    if (first < end) {
      for (std::size_t i = 0; i < inputs_.size(); ++i)
        inputs_[i] = i == rounds_.self() ? call.in + first * element : place(i, in_lines) + (first - done) * element;
      combine(call, inputs_, end - first, call.out + (first - mine.first) * element);
    }
    rounds_.end_with_all();
    done += some;
  } while (done < call.count);
  return true;
}

bool node_road::reduce_scatter_by_reading(const leader_call& call, range mine) {
  const std::size_t piece = bytes_of_piece();
  std::byte* const pieces = scratch((rounds_.size() - 1) * piece);
  const bool done = exchange(call.in, call.poisoned) && combine_share(call, mine, call.out, pieces, piece) && meet();
  free_large_scratch();
  return done;
}

}  // namespace weft::detail
