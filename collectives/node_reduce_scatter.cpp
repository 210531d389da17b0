// Reduce-scatters among processes of one node. Each process combines its own block alone, out of what all write, where
// that is long of each block a part a round, or of what it reads of their memory. In place the output is the process's
// own block of its input, which nobody else reads.
#include <algorithm>
#include <cstring>
#include <weft/request.hpp>

#include "block_places.hpp"
#include "joined_work.hpp"
#include "node_road.hpp"

namespace weft::detail {

bool node_road::reduce_scatter(const leader_call& call) {
  const std::size_t element = call.of->element_bytes;
  const block_places places = places_of(call);
  const int self = static_cast<int>(rounds_.self());
  const range mine{places.begin(self) / element, places.bytes_of(self) / element};
  const std::size_t bytes = call.count * element, others = bytes / rounds_.size() * (rounds_.size() - 1);
  if (is_long(call.what, others)) return reduce_scatter_by_reading(call, mine);
  if (!take_slots_for(bytes, false)) return false;
  const bool in_parts = bytes > fabric::arena_slot_bytes && part_of_block(element) != 0;
  return in_parts ? reduce_scatter_in_parts(call, places) : reduce_scatter_in_pieces(call, mine);
}

bool node_road::reduce_scatter_in_pieces(const leader_call& call, range mine) {
  const std::size_t element = call.of->element_bytes, self = rounds_.self(), each = slot_bytes_ / element;
  const bool in_lines = call.count * element <= fabric::arena_line_bytes && !custom_;
  std::size_t done = 0;
  do {
    const std::size_t some = std::min(each, call.count - done);
    if (!begin(in_lines ? 0 : some * element)) return false;
    const std::size_t first = std::clamp(mine.first, done, done + some);
    const std::size_t end = std::clamp(mine.first + mine.count, done, done + some);
    std::byte* const into = place(self, in_lines);  // nobody else reads this process's own block
    copy_bytes(into, call.in + done * element, (first - done) * element);
    copy_bytes(into + (end - done) * element, call.in + end * element, (done + some - end) * element);
    publish(call.poisoned);
    if (!await_operands()) return false;
    if (first < end) {
      for (std::size_t i = 0; i < inputs_.size(); ++i)
        inputs_[i] = i == self ? call.in + first * element : place(i, in_lines) + (first - done) * element;
      combine(call, inputs_, end - first, call.out + (first - mine.first) * element);
    }
    rounds_.end_with_all();
    done += some;
  } while (done < call.count);
  return true;
}

bool node_road::reduce_scatter_in_parts(const leader_call& call, const block_places& places) {
  const std::size_t element = call.of->element_bytes, self = rounds_.self(), all = rounds_.size();
  std::size_t longest = 0;
  for (std::size_t i = 0; i < all; ++i) longest = std::max(longest, places.bytes_of(static_cast<int>(i)));
  const std::size_t each = part_of_block(element) * element;
  for (std::size_t done = 0; done < longest; done += each) {
    const auto rest = [&](std::size_t block) {  // bytes of it in this round
      const std::size_t bytes = places.bytes_of(static_cast<int>(block));
      return std::min(each, bytes - std::min(done, bytes));
    };
    const auto here = [&](std::size_t block) { return call.in + places.begin(static_cast<int>(block)) + done; };
    if (!begin((all - 1) * each)) return false;
    for (std::size_t taker = 0; taker < all; ++taker)
      if (taker != self) copy_bytes(slot(self) + among_others(taker, self) * each, here(taker), rest(taker));
    publish(call.poisoned);
    if (!await_operands()) return false;
    for (std::size_t i = 0; i < all; ++i) inputs_[i] = i == self ? here(self) : slot(i) + among_others(self, i) * each;
    if (rest(self) != 0) combine(call, inputs_, rest(self) / element, call.out + done);
    rounds_.end_with_all();
  }
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
