// Stages of blocks, one for each process: those of a node's processes lie in a row and go from node to node together.
#include <algorithm>
#include <cstring>

#include "combine_inputs.hpp"
#include "staged_call.hpp"

namespace weft::detail {

std::size_t staged_call::elements_of(const std::vector<int>& processes) const {
  if (call_.counts.empty()) return processes.size() * call_.block;
  std::size_t all = 0;
  for (const int each : processes) all += call_.counts[static_cast<std::size_t>(each)];
  return all;
}

std::size_t staged_call::begin_of_node() const {
  std::size_t before = 0;
  for (int i = 0; i < node(); ++i) before += elements_of(on_.layout.members[static_cast<std::size_t>(i)]);
  return before * call_.of->element_bytes;
}

leader_call staged_call::blocks_on_node(collective what, const std::byte* in, std::byte* out) const {
  const std::vector<int>& mine = neighbors();
  leader_call one = stage(what, 0, in, out);
  one.count = elements_of(mine);
  one.block = call_.block;
  if (!call_.counts.empty())
    one.counts.assign(&call_.counts[static_cast<std::size_t>(mine.front())],
                      &call_.counts[static_cast<std::size_t>(mine.back())] + 1);
  return one;
}

leader_call staged_call::blocks_between(collective what, const std::byte* in, std::byte* out) const {
  leader_call one = stage(what, 0, in, out);
  for (const auto& each : on_.layout.members) one.counts.push_back(elements_of(each));
  one.block = one.counts.front();
  if (std::ranges::all_of(one.counts, [&](std::size_t count) { return count == one.block; })) one.counts.clear();
  return one;
}

void staged_call::allgather() {
  std::byte* const of_node = call_.out + begin_of_node();
  if (!on_node(blocks_on_node(collective::gather, call_.in, of_node))) return;
  if (!between(blocks_between(collective::allgather, on_.team != nullptr ? of_node : call_.in, call_.out))) return;
  request of_bytes = *call_.of;  // ranks may see what is only moved as elements of different sizes
  of_bytes.element_bytes = 1;
  leader_call whole = stage(collective::broadcast, 0, call_.out, call_.out);
  whole.of = &of_bytes;
  whole.count = bytes();
  on_node(whole);
}

void staged_call::reduce_scatter() {
  if (on_.team == nullptr) {
    between(blocks_between(collective::reduce_scatter, call_.in, call_.out));
    return;
  }
  const aligned_bytes scratch = memory_of_speaker(bytes());
  std::byte* const of_node = scratch != nullptr ? scratch.get() + begin_of_node() : nullptr;
  if (!on_node(stage(collective::reduce, 0, call_.in, scratch.get()))) return;
  if (!between(blocks_between(collective::reduce_scatter, scratch.get(), of_node))) return;
  on_node(blocks_on_node(collective::scatter, of_node, call_.out));
}

// In equal blocks. The process that speaks for a node has all that the others of its node send.
void staged_call::alltoall() {
  const std::size_t mine = neighbors().size();
  leader_call by_messages = stage(collective::alltoall, 0, call_.in, call_.out);
  by_messages.count = mine * call_.count;
  for (const auto& each : on_.layout.members) by_messages.counts.push_back(mine * each.size() * call_.block);
  by_messages.counts.insert(by_messages.counts.end(), by_messages.counts.begin(), by_messages.counts.end());
  if (on_.team == nullptr) {
    const aligned_bytes copy = memory_of_speaker(call_.in == call_.out ? bytes() : 0);
    if (copy != nullptr) {  // with counts messages do not go in place
      std::memcpy(copy.get(), call_.in, bytes());
      by_messages.in = copy.get();
    }
    between(by_messages);
    return;
  }
  const aligned_bytes memory = memory_of_speaker(2 * mine * bytes());
  std::byte *const rows = memory.get(), *const packed = rows + (speaks() ? mine * bytes() : 0);
  leader_call rows_of_node = stage(collective::gather, 0, call_.in, rows);
  rows_of_node.count = mine * call_.count;
  rows_of_node.block = call_.count;
  if (!on_node(rows_of_node)) return;
  if (speaks()) pack(rows, packed);
  by_messages.in = packed;
  by_messages.out = rows;
  if (!between(by_messages)) return;
  if (speaks()) unpack(rows, packed);
  rows_of_node.what = collective::scatter;
  rows_of_node.in = packed;
  rows_of_node.out = call_.out;
  on_node(rows_of_node);
}

void staged_call::pack(const std::byte* rows, std::byte* packed) const {
  const std::size_t block = call_.block * call_.of->element_bytes;
  const std::size_t mine = neighbors().size();
  for (const auto& takers : on_.layout.members)
    for (std::size_t giver = 0; giver < mine; ++giver, packed += takers.size() * block)
      copy_bytes(packed, rows + giver * bytes() + static_cast<std::size_t>(takers.front()) * block,
                 takers.size() * block);
}

void staged_call::unpack(const std::byte* packed, std::byte* rows) const {
  const std::size_t block = call_.block * call_.of->element_bytes;
  const std::size_t mine = neighbors().size();
  for (std::size_t giver = 0; giver < on_.layout.processes(); ++giver)
    for (std::size_t taker = 0; taker < mine; ++taker, packed += block)
      copy_bytes(rows + taker * bytes() + giver * block, packed, block);
}

}  // namespace weft::detail
