// Scans among processes of one node, from left to right.
//
//   short:  every process writes its vector -> each combines those of the processes before it, one after another
//   long:   a slot's worth a round, from process to process: each takes what is combined so far from the one before it,
//           adds its own, and writes that for the next, while those before it go on with the next piece
#include <algorithm>
#include <array>
#include <cstring>
#include <weft/request.hpp>

#include "node_road.hpp"

namespace weft::detail {

bool node_road::scan(const leader_call& call) {
  return call.count * call.of->element_bytes <= fabric::arena_slot_bytes ? scan_at_once(call) : scan_in_pieces(call);
}

bool node_road::scan_at_once(const leader_call& call) {
  const std::size_t bytes = call.count * call.of->element_bytes, self = rounds_.self();
  const bool in_lines = bytes <= fabric::arena_line_bytes && !custom_;
  if (!begin(in_lines ? 0 : bytes)) return false;
  if (bytes != 0) std::memcpy(place(self, in_lines), call.in, bytes);
  publish(call.poisoned);
  for (std::size_t i = 0; i < self; ++i)
    if (!await_operand(i)) return false;
  const std::size_t end = call.what == collective::scan ? self + 1 : self;
  if (end != 0 && bytes != 0) std::memcpy(call.out, place(0, in_lines), bytes);
  for (std::size_t i = 1; i < end; ++i) {
    const std::array<const std::byte*, 2> both{call.out, place(i, in_lines)};
    combine(call, both, call.count, call.out);
  }
  rounds_.end();
  return true;
}

bool node_road::scan_in_pieces(const leader_call& call) {
  if (!take_slots_for(call.count * call.of->element_bytes, true)) return false;
  const std::size_t element = call.of->element_bytes, each = slot_bytes_ / element, self = rounds_.self();
  const bool exclusive = call.what == collective::exscan;
  for (std::size_t done = 0, some = 0; done < call.count; done += some) {
    some = std::min(each, call.count - done);
    const std::byte* const in = call.in + done * element;
    if (!begin(some * element)) return false;
    std::byte* const mine = slot(self);
    if (self == 0) {
      std::memcpy(mine, in, some * element);
    } else {
      if (!await_operand(self - 1)) return false;
      const std::array<const std::byte*, 2> both{slot(self - 1), in};
      if (!exclusive || self + 1 != rounds_.size()) combine(call, both, some, mine);
    }
    publish(poisoned_);
    if (!exclusive || self != 0)
      std::memcpy(call.out + done * element, exclusive ? slot(self - 1) : mine, some * element);
    rounds_.end();
  }
  return true;
}

}  // namespace weft::detail
