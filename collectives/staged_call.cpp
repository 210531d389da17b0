// Stages of vectors: the whole of each goes through every stage.
#include "staged_call.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "combine_inputs.hpp"

namespace weft::detail {
namespace {

/// Of long vectors: each is in the caches of its node when it goes to the others.
constexpr std::size_t bytes_of_piece = 256 << 10;

}  // namespace

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

leader_call staged_call::piece_of(leader_call stage, std::size_t first, std::size_t count) const {
  const std::size_t offset = first * call_.of->element_bytes;
  stage.count = count;
  if (stage.in != nullptr) stage.in += offset;
  if (stage.out != nullptr) stage.out += offset;
  return stage;
}

bool staged_call::is_long() const { return bytes() >= 2 * bytes_of_piece && call_.custom.apply == nullptr; }

template <class Before, class Across, class Behind>
bool staged_call::flow(Before before, Across across, Behind behind) {
  if (is_long()) return flow_in_pieces(before, across, behind);
  const auto whole = [this](const leader_call& stage) { return on_node(stage); };
  return before(whole) && between(across()) && behind(whole);
}

template <class Before, class Across, class Behind>
bool staged_call::flow_in_pieces(Before before, Across across, Behind behind) {
  const std::size_t all = call_.count, each = bytes_of_piece / call_.of->element_bytes;
  const auto piece = [&](const leader_call& stage, std::size_t first) {
    return piece_of(stage, first, std::min(each, all - first));
  };
  const auto part = [&](std::size_t first) {
    return [&, first](const leader_call& stage) { return on_node(piece(stage, first)); };
  };
  std::optional<message_stage::begun> on_the_way;  // the piece before
  const auto finish = [&](std::size_t first) {
    if (on_the_way && !take(on_.between.end(*std::exchange(on_the_way, std::nullopt)))) return false;
    return behind(part(first));
  };
  bool goes_on = true;
  for (std::size_t first = 0; goes_on && first < all; first += each) {
    goes_on = before(part(first));
    std::optional<message_stage::begun> next;
    if (goes_on && speaks())
      next = on_.between.begin(piece(across(), first), first / each % 2 != 0, member_, selection_);
    if (first != 0) goes_on = goes_on && finish(first - each);
    if (on_the_way) on_.between.end(*std::move(on_the_way));
    on_the_way = std::move(next);
  }
  goes_on = goes_on && finish((all - 1) / each * each);
  if (on_the_way) on_.between.end(*std::move(on_the_way));
  return goes_on;
}

void staged_call::broadcast() {
  const std::byte* const from = is_root() ? call_.in : call_.out;
  flow([&](auto run) { return !root_is_here() || run(stage(call_.what, root_seat(), call_.in, call_.out)); },
       [&] { return stage(call_.what, root_node(), from, call_.out); },
       [&](auto run) { return root_is_here() || run(stage(call_.what, 0, call_.out, call_.out)); });
}

void staged_call::allreduce() {
  const std::byte* const of_node = on_.team != nullptr ? call_.out : call_.in;
  flow([&](auto run) { return run(stage(collective::reduce, 0, call_.in, call_.out)); },
       [&] { return stage(collective::allreduce, 0, of_node, call_.out); },
       [&](auto run) { return run(stage(collective::broadcast, 0, call_.out, call_.out)); });
}

void staged_call::reduce() {
  const aligned_bytes scratch = memory_of_speaker(is_root() ? 0 : bytes());
  std::byte* const target = scratch != nullptr ? scratch.get() : call_.out;
  const std::byte* const of_node = on_.team != nullptr ? target : call_.in;
  const bool goes_on =
      flow([&](auto run) { return run(stage(collective::reduce, 0, call_.in, target)); },
           [&] { return stage(collective::reduce, root_node(), of_node, target); }, [](auto) { return true; });
  if (goes_on && root_is_here() && root_seat() != 0) hand_over(target);
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
