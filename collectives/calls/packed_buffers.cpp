// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <string>
#include <weft/calls/agreement.hpp>
#include <weft/calls/argument_checks.hpp>
#include <weft/calls/call_ways.hpp>
#include <weft/calls/packed_buffers.hpp>
#include <weft/runtime/error.hpp>

namespace weft::detail {
namespace {

constexpr std::size_t most = std::numeric_limits<std::size_t>::max();

std::size_t sum_of(std::size_t a, std::size_t b) noexcept { return a > most - b ? most : a + b; }
std::size_t product_of(std::size_t a, std::size_t b) noexcept { return b != 0 && a > most / b ? most : a * b; }

/// Elements of an item.
std::size_t item_of(const strided& lies) noexcept { return lies.runs == 0 ? most : product_of(lies.runs, lies.length); }

/// Calls `each(first element, how many)` with the runs of a block of `count` elements.
template <class Each>
void for_each_run(const strided& lies, std::size_t count, Each&& each) {
  for (std::size_t item = 0; count != 0; item += lies.next) {
    std::size_t left = std::min(count, item_of(lies));
    count -= left;
    for (std::size_t at = item; left != 0; at += lies.stride) {
      const std::size_t run = std::min(left, lies.length);
      each(at, run);
      left -= run;
    }
  }
}

/// Elements from the beginning of such a block, which has some, to the end of the last; more than memory has where they
/// cannot be.
std::size_t extent_of(const strided& lies, std::size_t count) noexcept {
  const std::size_t item = item_of(lies);
  // The same of one item, which has `elements`.
  const auto within = [&](std::size_t elements) {
    const std::size_t last = (elements - 1) / lies.length;
    const std::size_t end = sum_of(product_of(last, lies.stride), elements - last * lies.length);
    return last == 0 ? end : std::max(end, sum_of(product_of(last - 1, lies.stride), lies.length));
  };
  const std::size_t items = (count - 1) / item;  // before the last
  const std::size_t end = sum_of(product_of(items, lies.next), within(count - items * item));
  return items == 0 ? end : std::max(end, sum_of(product_of(items - 1, lies.next), within(item)));
}

/// Where the bytes of such a block lie.
layout layout_of(const strided& lies, std::size_t count, std::size_t element_bytes) {
  const auto bytes = static_cast<std::ptrdiff_t>(element_bytes);
  const std::ptrdiff_t stride = static_cast<std::ptrdiff_t>(lies.stride) * bytes;
  const auto item = [&](std::size_t elements) {
    layout runs = layout::repeated(layout::run(lies.length * element_bytes), elements / lies.length, stride);
    runs.add(layout::run(elements % lies.length * element_bytes),
             static_cast<std::ptrdiff_t>(elements / lies.length) * stride);
    return runs;
  };
  if (count <= item_of(lies)) return item(count);
  const std::ptrdiff_t next = static_cast<std::ptrdiff_t>(lies.next) * bytes;
  const std::size_t items = count / item_of(lies);
  layout all = layout::repeated(item(item_of(lies)), items, next);
  all.add(item(count % item_of(lies)), static_cast<std::ptrdiff_t>(items) * next);
  return all;
}

/// One where all blocks are alike.
std::span<const strided> strides_of(const block_layout& blocks) {
  return blocks.strided_as == block_layout::as::each ? blocks.strides : std::span(&blocks.alike, 1);
}

[[noreturn]] void refuse(const communicator_state& state, const request& call, const std::string& what,
                         errc kind = errc::invalid_count) {
  throw error(kind, where(state, schedules::call_name(call.what)) + ": " + what);
}

}  // namespace

packed_buffers packed_buffers::of(communicator_state& state, const request& call) {
  learn_to_announce(state);
  return telling_refusals(state, [&] { return packed_buffers(state, call); });
}

packed_buffers::packed_buffers(const communicator_state& state, const request& call) : call_(call) {
  call_.in_pieces = false;
  call_.strided = call_.received_strided = nullptr;
  call_.in_lies = call_.out_lies = nullptr;
  if (call.refused != errc()) refuse(state, call, *static_cast<const std::string*>(call.keeps.get()), call.refused);
  if (call.in_lies != nullptr || call.out_lies != nullptr) pack_described(state, call);
  if (call.strided != nullptr || call.received_strided != nullptr) pack_strided(state, call);
}

/// Views, and elements of types that do not lie in one piece. Their scratch is never in place, but that of a broadcast.
void packed_buffers::pack_described(const communicator_state& state, const request& call) {
  const char* const operation = schedules::call_name(call.what);
  const bool strided = call.strided != nullptr || call.received_strided != nullptr;
  if (strided)
    refuse(state, call, "strided blocks of a view, or of a type in pieces: they lie in one of these two ways");
  const bool at_root = !schedules::is_rooted(call.what) || state.member.rank == call.root;
  const bool moves_one = call.what == collective::broadcast, spreads = call.what == collective::scatter;
  const auto packed = [&](const described* how, void* at, std::size_t count) -> std::optional<packed_copy> {
    if (how == nullptr || count == 0) return std::nullopt;
    check_memory(state, operation, at, count * call.element_bytes);
    return packed_copy(how->lies(*how), at, count * call.element_bytes, state.host.budget());
  };
  // What only the root reads or writes may be anything elsewhere.
  if (!moves_one && call.in_lies != nullptr) {
    if (at_root || !spreads) input_ = packed(call.in_lies, const_cast<void*>(call.in), call.in_count);
    call_.in = input_ ? input_->bytes().data() : nullptr;
    if (!input_) call_.in_count = 0;
  }
  if (call.out_lies != nullptr) {
    if (at_root || moves_one || spreads) output_ = packed(call.out_lies, call.out, call.out_count);
    call_.out = output_ ? output_->bytes().data() : nullptr;
    if (!output_) call_.out_count = 0;
    if (moves_one) {
      call_.in = call_.out;
      call_.in_count = call_.out_count;
    }
  }
  keeps_output_ = call.uneven || call.what == collective::exscan || (moves_one && at_root);
}

/// Blocks of one buffer that are strided.
struct packed_buffers::blocks {
  blocks(const request& its, std::span<const strided> how, block_counts of_each, block_counts where)
      : call(its), lies(how.begin(), how.end()), counts(of_each), displacements(where), packed(of_each.size()) {
    if (lies.size() == 1) lies.resize(counts.size(), lies[0]);
    for (std::size_t r = 0; r < counts.size(); ++r) {
      packed[r] = elements;
      elements += counts[r];
    }
  }
  void check_within(const communicator_state& state, const char* name, std::size_t count) const;
  void check_apart(const communicator_state& state) const;

  const request& call;
  std::vector<strided> lies;
  block_counts counts, displacements;
  std::vector<std::size_t> packed;  ///< where they lie in the scratch
  std::size_t elements = 0;         ///< of all
};

void packed_buffers::pack_strided(const communicator_state& state, const request& call) {
  if (call.at_root && state.member.rank != call.root) return;  // what it gives is ignored
  check_lists(state, call);
  const bool all_to_all = call.what == collective::alltoall;
  const bool is_input = all_to_all || call.what == collective::scatter;
  if (call.strided != nullptr)
    place(state, is_input, {call, strides_of(*call.strided), call.counts, call.displacements});
  if (all_to_all && call.received_strided != nullptr)
    place(state, false, {call, strides_of(*call.received_strided), call.received, call.received_displacements});
}

void packed_buffers::place(const communicator_state& state, bool is_input, blocks&& placed) {
  const request& call = placed.call;
  const bool root = !schedules::is_rooted(call.what) || state.member.rank == call.root;
  if (root) {  // else it has no such buffer
    placed.check_within(state, is_input ? "input" : "output", is_input ? call.in_count : call.out_count);
    if (!is_input) placed.check_apart(state);
    layout all;
    for (std::size_t r = 0; r < placed.counts.size(); ++r)
      if (placed.counts[r] != 0)
        all.add(layout_of(placed.lies[r], placed.counts[r], call.element_bytes),
                static_cast<std::ptrdiff_t>(placed.displacements[r] * call.element_bytes));
    auto& made = is_input ? input_ : output_;
    const std::size_t bytes = all.bytes();
    made.emplace(std::make_shared<const spread>(spread{std::move(all), 0}),
                 is_input ? const_cast<void*>(call.in) : call.out, bytes, state.host.budget());
    if (is_input)
      call_.in = made->bytes().data(), call_.in_count = placed.elements;
    else
      call_.out = made->bytes().data(), call_.out_count = placed.elements;
  }
  const bool received = !is_input && call.what == collective::alltoall;
  auto& places = received ? received_places_ : places_;
  places = std::move(placed.packed);
  (received ? call_.received_displacements : call_.displacements) = places;
}

void packed_buffers::blocks::check_within(const communicator_state& state, const char* name, std::size_t count) const {
  if (displacements.size() != counts.size())
    refuse(state, call,
           "there are " + std::to_string(displacements.size()) + " displacements for the blocks of " +
               std::to_string(counts.size()) + " ranks");
  if (lies.size() != counts.size())
    refuse(state, call,
           "there are " + std::to_string(lies.size()) + " strides for the blocks of " + std::to_string(counts.size()) +
               " ranks");
  for (std::size_t r = 0; r < counts.size(); ++r) {
    if (counts[r] == 0) continue;
    if (lies[r].length == 0)
      refuse(state, call, "the block of rank " + std::to_string(r) + " is strided in runs of no elements");
    const std::size_t extent = extent_of(lies[r], counts[r]), begin = displacements[r];
    if (begin > count || extent > count - begin)
      refuse(state, call,
             "the block of rank " + std::to_string(r) + " reaches over " + std::to_string(extent) +
                 " elements from number " + std::to_string(begin) + " on, but the " + name + " has " +
                 std::to_string(count));
  }
  check_memory(state, schedules::call_name(call.what), name[0] == 'i' ? call.in : call.out, count * call.element_bytes);
}

void packed_buffers::blocks::check_apart(const communicator_state& state) const {
  std::vector<bool> taken(call.out_count);
  for (std::size_t r = 0; r < counts.size(); ++r)
    for_each_run(lies[r], counts[r], [&](std::size_t at, std::size_t count) {
      const auto first = taken.begin() + static_cast<std::ptrdiff_t>(displacements[r] + at);
      const auto end = first + static_cast<std::ptrdiff_t>(count);
      if (std::find(first, end, true) != end)
        refuse(state, call, "the block of rank " + std::to_string(r) + " overlaps itself or another one in the output");
      std::fill(first, end, true);
    });
}

void packed_buffers::pack() const noexcept {
  if (input_) input_->pack();
  if (output_ && keeps_output_) output_->pack();
}

void packed_buffers::unpack() const noexcept {
  if (output_) output_->unpack();
}

}  // namespace weft::detail
