// Stages of vectors: the whole of each goes through every stage.
#include "staged_call.hpp"

#include <array>
#include <cstring>
#include <utility>

#include "combine_inputs.hpp"
#include "joined_failures.hpp"

namespace weft::detail {

leader_result staged_call::run() {
  go();
  return std::move(result_);
}

void staged_call::go() {
  switch (call_.what) {
    case collective::broadcast:
      return broadcast();
    case collective::reduce:
      return reduce();
    case collective::allreduce:
      return allreduce();
    case collective::allgather:
      return allgather();
    case collective::reduce_scatter:
      return reduce_scatter();
    case collective::alltoall:
      return alltoall();
    case collective::scan:
    case collective::exscan:
      return scan();
    default:
      return barrier();
  }
}

leader_call staged_call::stage(collective what, int root, const std::byte* in, std::byte* out) const {
  leader_call one;
  one.what = what;
  one.of = call_.of;
  one.count = call_.count;
  one.root = root;
  one.in = in;
  one.out = out;
  one.sequence = call_.sequence;
  one.fingerprint = call_.fingerprint;
  one.custom = call_.custom;
  one.poisoned = missing_;
  return one;
}

bool staged_call::take(leader_result found) {
  missing_ = found.poisoned;
  const bool failed = found.failure != nullptr && found.poisoned == nullptr;
  // Without a failure: that of a rank here, which the call came with, and which its process tells.
  const bool says_more = found.failure != nullptr || (found.poisoned != nullptr && result_.poisoned == nullptr);
  if (says_more && result_.failure == nullptr) result_ = std::move(found);
  return !failed;
}

aligned_bytes staged_call::memory_of_speaker(std::size_t bytes) const {
  return speaks() && bytes != 0 ? make_aligned_bytes(bytes) : nullptr;
}

void staged_call::barrier() {
  if (!on_node(stage(collective::reduce, 0, nullptr, nullptr))) return;  // of nothing: the first awaits all
  if (!between(stage(collective::barrier, 0, nullptr, nullptr))) return;
  on_node(stage(collective::broadcast, 0, nullptr, nullptr));
}

void staged_call::broadcast() {
  if (root_is_here() && !on_node(stage(collective::broadcast, root_seat(), call_.in, call_.out))) return;
  if (!between(stage(collective::broadcast, root_node(), is_root() ? call_.in : call_.out, call_.out))) return;
  if (!root_is_here()) on_node(stage(collective::broadcast, 0, call_.out, call_.out));
}

void staged_call::allreduce() {
  if (!on_node(stage(collective::reduce, 0, call_.in, call_.out))) return;
  const std::byte* const of_node = on_.team != nullptr ? call_.out : call_.in;
  if (!between(stage(collective::allreduce, 0, of_node, call_.out))) return;
  on_node(stage(collective::broadcast, 0, call_.out, call_.out));
}

void staged_call::reduce() {
  const aligned_bytes scratch = memory_of_speaker(is_root() ? 0 : bytes());
  std::byte* const target = scratch != nullptr ? scratch.get() : call_.out;
  if (!on_node(stage(collective::reduce, 0, call_.in, target))) return;
  const std::byte* const of_node = on_.team != nullptr ? target : call_.in;
  if (!between(stage(collective::reduce, root_node(), of_node, target))) return;
  if (root_is_here() && root_seat() != 0) hand_over(target);
}

void staged_call::hand_over(const std::byte* from) {
  leader_call last = stage(collective::gather, root_seat(), from, call_.out);
  last.counts.assign(neighbors().size(), 0);
  last.counts[0] = call_.count;
  on_node(last);
}

// The first process of a node scans with what the nodes before it have together before its own input, so that all
// behind it have that, too. What the last node has together nobody asks for.
void staged_call::scan() {
  const aligned_bytes scratch = memory_of_speaker(2 * bytes());
  std::byte *const total = scratch.get(), *const before = total + (scratch != nullptr ? bytes() : 0);
  const bool first = node() == 0, last = node() + 1 == nodes();
  if (!last && !on_node(stage(collective::reduce, 0, call_.in, total))) return;
  const std::byte* const of_node = last || on_.team == nullptr ? call_.in : total;
  if (!between(stage(collective::exscan, 0, of_node, before))) return;
  const std::byte* in = call_.in;
  if (speaks() && !first) {
    put_before(before, total);
    in = total;
  }
  const bool exclusive = call_.what == collective::exscan;
  if (!on_node(stage(call_.what, 0, in, call_.out)) || result_.failure != nullptr || !speaks() || bytes() == 0) return;
  if (!exclusive && on_.team == nullptr) std::memmove(call_.out, in, bytes());
  if (exclusive && !first) std::memcpy(call_.out, before, bytes());
}

void staged_call::put_before(const std::byte* others, std::byte* out) {
  if (missing_ != nullptr || bytes() == 0) return;
  array_operator by(*call_.of);
  by.custom = call_.custom;
  try {
    combine_inputs(by, std::array{others, call_.in}, 0, call_.count, out, {});
  } catch (...) {
    const auto thrown = std::current_exception();
    take({thrown, std::make_shared<const fabric::poison>(fabric::poison{member_.rank, message_of(thrown)})});
  }
}

}  // namespace weft::detail
