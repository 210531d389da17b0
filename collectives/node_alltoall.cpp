// All-to-alls with counts among processes of one node. Of these each process knows its own alone, so the first round
// tells the others where its blocks begin, and brings the blocks where there is room behind that; longer ones follow as
// those of other calls (node_blocks.cpp), from the processes that have some.
//
//   line:  address of the input | its bytes | where that is in the heap
//   slot:  begin of the block for each process, and the end of the last, bytes | the blocks
#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <weft/request.hpp>
#include <weft/runtime/error.hpp>

#include "block_places.hpp"
#include "node_road.hpp"
#include "process.hpp"

namespace weft::detail {
namespace {

struct told_input {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t place = 0;
};

std::size_t table_bytes(std::size_t processes) { return (processes + 1) * sizeof(std::uint64_t); }

/// The longest input that a slot has room for.
std::size_t room_behind_table(std::size_t processes) { return fabric::arena_slot_bytes - table_bytes(processes); }

}  // namespace

bool node_road::has_room_for_counts() const noexcept { return table_bytes(rounds_.size()) <= fabric::arena_slot_bytes; }

bool node_road::alltoall_with_counts(const leader_call& call) {
  const std::size_t all = rounds_.size(), self = rounds_.self(), most = room_behind_table(all);
  const auto counts = std::span(call.counts);
  const block_places sent(counts.first(all), call.of->element_bytes);
  const block_places received(counts.last(all), call.of->element_bytes);
  const std::size_t own = sent.begin(static_cast<int>(all));
  const std::byte* const in = own > most ? apart(call, own) : call.in;

  if (!begin(fabric::arena_slot_bytes)) return false;
  tell_blocks(in, sent);
  rounds_.publish();
  const auto here = static_cast<int>(self);
  if (sent.bytes_of(here) != 0)
    std::memmove(call.out + received.begin(here), in + sent.begin(here), sent.bytes_of(here));
  lengths input{own > most ? own : 0, own};
  const auto take = [&](std::size_t giver) { return await(giver) && take_block(call, giver, received, input.longest); };
  if (!from_each(call, take)) return false;
  end_taking(call);
  if (input.longest <= most) return true;
  return is_long(call.what, input.longest) ? read_moves(call) && let_go(call) : move_in_pieces(call, in, input);
}

void node_road::tell_blocks(const std::byte* in, const block_places& sent) noexcept {
  const std::size_t all = rounds_.size(), self = rounds_.self(), bytes = sent.begin(static_cast<int>(all));
  const told_input mine{reinterpret_cast<std::uintptr_t>(in), bytes, place_of(in, bytes)};
  std::memcpy(rounds_.line(self), &mine, sizeof mine);
  std::byte* const slot = rounds_.slot(self);
  for (std::size_t i = 0; i <= all; ++i) {
    const std::uint64_t begin = sent.begin(static_cast<int>(i));
    std::memcpy(slot + i * sizeof begin, &begin, sizeof begin);
  }
  if (bytes != 0 && bytes <= room_behind_table(all)) std::memcpy(slot + table_bytes(all), in, bytes);
}

bool node_road::take_block(const leader_call& call, std::size_t giver, const block_places& received,
                           std::size_t& longest) {
  const std::size_t all = rounds_.size();
  const std::byte* const slot = rounds_.slot(giver);
  told_input its;
  std::memcpy(&its, rounds_.line(giver), sizeof its);
  std::array<std::uint64_t, 2> block;  // its begin and its end
  std::memcpy(block.data(), slot + rounds_.self() * sizeof block[0], sizeof block);
  const std::size_t expected = received.bytes_of(static_cast<int>(giver)), bytes = block[1] - block[0];
  if (block[0] > block[1] || block[1] > its.bytes || bytes != expected) return refuse_counts(giver, bytes, expected);
  move& mine = moves_[giver];
  mine = {block[0], bytes, received.begin(static_cast<int>(giver))};
  told_[giver] = its.address;
  lies_[giver] = its.place;
  longest = std::max<std::size_t>(longest, its.bytes);
  if (its.bytes > room_behind_table(all)) return true;
  if (bytes != 0) std::memcpy(call.out + mine.to, slot + table_bytes(all) + mine.from, bytes);
  mine.bytes = 0;  // nothing is left to be moved
  return true;
}

bool node_road::refuse_counts(std::size_t giver, std::uint64_t sent, std::size_t expected) {
  host_.messages().break_communicator(
      communicator_, errc::mismatched_call,
      "in an alltoall with counts rank " + std::to_string(leaders_[giver]) + " sends rank " +
          std::to_string(leaders_[rounds_.self()]) + " " + std::to_string(sent) + " bytes where that expects " +
          std::to_string(expected) + " (communicator " + std::to_string(communicator_) + ")");
  return false;
}

}  // namespace weft::detail
