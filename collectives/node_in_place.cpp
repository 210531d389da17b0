// Calls among processes of one node in which each tells where its buffers lie: so that the others use those in place
// that lie in the heaps of the arena, and read others by the kernel's help.
//
//   all-reduce, reduce   tell; all lie in heaps:  combine one's share of all inputs into all outputs -> meet
//                        else                     by reading (node_reading.cpp), or slot by slot
//   broadcast            tell; the root's does:   copy from it; to those whose outputs do it copies a share itself ->
//   meet
//                        else                     all others read -> meet, or slot by slot
//
// What is told is checked before it is used. A call's input and output may be one: an element of any buffer is read and
// written by one process alone, whose share it is in.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <weft/request.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/event.hpp>

#include "combine_inputs.hpp"
#include "line_shares.hpp"
#include "node_road.hpp"
#include "process.hpp"
#include "reading_limits.hpp"

namespace weft::detail {

bool node_road::tells(collective what, std::size_t bytes) const noexcept {
  if (custom_) return false;  // what the caller's operator makes may be missing (node_operators.cpp)
  if (what == collective::broadcast) return is_long(what, bytes) || heap_ != nullptr;
  // The others of a reduction do not wait for each other while a slot has room for it.
  return heap_ != nullptr && (what != collective::reduce || bytes > fabric::arena_slot_bytes);
}

bool node_road::reduce_telling(const leader_call& call) {
  const std::size_t element = call.of->element_bytes, bytes = call.count * element;
  const bool takes = call.what == collective::allreduce || rounds_.self() == static_cast<std::size_t>(call.root);
  const bool in_slots = !is_long(call.what, bytes), in_shares = in_slots && combines_in_shares(call);
  buffer_places mine{place_of(call.in, bytes), takes ? place_of(call.out, bytes) : buffer_places::none};
  mine.address = reinterpret_cast<std::uintptr_t>(call.in);
  const std::size_t some = std::min(call.count, slot_bytes_ / element);
  const std::size_t in_slot = !in_slots ? 0 : in_shares ? long_slot_bytes_ : some * element;
  if (!begin_telling(mine, in_slot)) return false;
  if (in_slots && !mine.ready()) {
    if (in_shares)
      give_for_shares(piece_of(call, 0));
    else
      std::memcpy(slot(rounds_.self()), call.in, some * element);
  }
  rounds_.publish();
  if (!hear_all()) return false;
  const auto ready = static_cast<std::size_t>(std::ranges::count_if(places_, &buffer_places::ready));
  if (ready == places_.size()) return reduce_in_place(call);
  if (!in_slots) {
    for (std::size_t i = 0; i < places_.size(); ++i) told_[i] = places_[i].address, lies_[i] = places_[i].in;
    return reduce_in_shares(call);
  }
  if (in_shares) return ready == 0 ? reduce_given(call) : reduce_by_shares(call);
  if (ready != 0) return go_in_pieces(call);  // some have nothing in their slots
  if (takes) {
    for (std::size_t i = 0; i < inputs_.size(); ++i) inputs_[i] = slot(i);
    combine(call, inputs_, some, call.out);
  }
  return go_in_pieces(call, some);
}

bool node_road::reduce_in_place(const leader_call& call) {
  const std::size_t self = rounds_.self(), root = static_cast<std::size_t>(call.root);
  const std::size_t bytes = call.count * call.of->element_bytes;
  const bool to_all = call.what == collective::allreduce;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    inputs_[i] = find(i, places_[i].in, bytes);
    outputs_[i] = to_all || i == root ? find(i, places_[i].out, bytes) : nullptr;
    if (inputs_[i] == nullptr || (outputs_[i] == nullptr && (to_all || i == root))) return false;
  }
  const range mine = share_of(call, self);
  std::byte* const target = outputs_[to_all ? self : root] + mine.first * call.of->element_bytes;
  if (rounds_.all_stay())
    combine_inputs(array_operator(*call.of), inputs_, mine.first, mine.count, target,
                   to_all ? std::span<std::byte* const>(outputs_) : std::span<std::byte* const>());
  return meet();
}

bool node_road::broadcast_telling(const leader_call& call) {
  const std::size_t self = rounds_.self(), root = static_cast<std::size_t>(call.root);
  const std::size_t element = call.of->element_bytes, bytes = call.count * element;
  const std::size_t some = std::min(call.count, slot_bytes_ / element);
  const bool in_slots = !is_long(call.what, bytes);
  if (self == root) {
    const buffer_places mine{place_of(call.in, bytes), buffer_places::none, reinterpret_cast<std::uintptr_t>(call.in)};
    if (!begin_telling(mine, in_slots ? some * element : 0)) return false;
    if (in_slots && !mine.ready()) std::memcpy(slot(self), call.in, some * element);
    rounds_.publish();
    if (mine.ready()) return hear_all() && give_shares(call);
    rounds_.end();
    return in_slots ? go_in_pieces(call, some) : meet();
  }
  if (!begin_telling({buffer_places::none, place_of(call.out, bytes)}, in_slots ? some * element : 0)) return false;
  rounds_.publish();
  if (!hear_from(root)) return false;
  rounds_.end();
  if (places_[root].in != buffer_places::elsewhere) return copy_from_root(call);
  if (!in_slots) {
    lies_[root] = buffer_places::elsewhere;
    return read(root, places_[root].address, call.out, bytes) && nod(root, false);
  }
  std::memcpy(call.out, slot(root), some * element);
  return go_in_pieces(call, some);
}

bool node_road::give_shares(const leader_call& call) {
  const std::size_t first = share_of(call, 0).count * call.of->element_bytes;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (i == rounds_.self() || places_[i].out == buffer_places::elsewhere) continue;
    std::byte* const output = find(i, places_[i].out, call.count * call.of->element_bytes);
    if (output == nullptr) return false;
    if (rounds_.all_stay()) std::memcpy(output, call.in, first);
  }
  return meet();
}

bool node_road::copy_from_root(const leader_call& call) {
  const std::size_t root = static_cast<std::size_t>(call.root), element = call.of->element_bytes;
  const bool helped = places_[rounds_.self()].out != buffer_places::elsewhere;
  const std::byte* const input = find(root, places_[root].in, call.count * element);
  if (input == nullptr) return false;
  const std::size_t begin = helped ? share_of(call, 0).count * element : 0;
  std::memcpy(call.out + begin, input + begin, call.count * element - begin);
  return nod(root, helped);
}

bool node_road::nod(std::size_t root, bool awaits) {
  if (!begin()) return false;
  rounds_.publish();
  if (awaits && !await(root)) return false;
  rounds_.end();
  return true;
}

bool node_road::begin_telling(const buffer_places& mine, std::size_t in_slot) {
  const std::size_t self = rounds_.self();
  if (!begin(in_slot)) return false;
  telling_ = rounds_.number();
  places_[self] = mine;
  std::memcpy(rounds_.line(self), &mine, sizeof mine);
  return true;
}

bool node_road::hear_from(std::size_t member) {
  if (!await(member)) return false;
  std::memcpy(&places_[member], rounds_.line(member), sizeof places_[member]);
  return true;
}

bool node_road::hear_all() {
  for (std::size_t i = 0; i < places_.size(); ++i)
    if (i != rounds_.self() && !hear_from(i)) return false;
  rounds_.end_with_all();
  return true;
}

std::uint64_t node_road::place_of(const void* buffer, std::size_t bytes) const noexcept {
  if (heap_ == nullptr) return buffer_places::elsewhere;
  return heap_->offset_of(buffer, bytes).value_or(buffer_places::elsewhere);
}

std::byte* node_road::find(std::size_t member, std::uint64_t place, std::size_t bytes) {
  std::byte* const found = heap_ != nullptr ? heap_->at(regions_[member], place, bytes) : nullptr;
  if (found == nullptr)
    host_.messages().break_communicator(communicator_, errc::protocol,
                                        "process " + std::to_string(seats_[member].process) + " told of " +
                                            std::to_string(bytes) + " bytes at offset " + std::to_string(place) +
                                            " of its heap, which is shorter");
  return found;
}

void node_road::withdraw() {
  rounds_.withdraw();
  if (!places_[rounds_.self()].shared()) return;
  const auto deadline = std::chrono::steady_clock::now() + host_.settings().peer_timeout;
  for (std::size_t i = 0; i < seats_.size(); ++i)
    while (i != rounds_.self() && rounds_.is_using(i, telling_) && !host_.has_ended(seats_[i].process) &&
           std::chrono::steady_clock::now() < deadline) {
      host_.moved_by().help();
      event never;
      never.wait_until(host_.moved_by(), host_.moved_by().time().now() + between_looks);
    }
}

}  // namespace weft::detail
