// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <weft/calls/agreement.hpp>
#include <weft/calls/argument_checks.hpp>
#include <weft/calls/call_ways.hpp>
#include <weft/calls/packed_blocks.hpp>
#include <weft/runtime/copy_bytes.hpp>
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

/// Copies of elements of `Bytes` bytes; of any number where it is 0.
template <std::size_t Bytes>
void copy_run(std::byte* to, const std::byte* from, std::size_t count, std::size_t bytes) noexcept {
  if constexpr (Bytes == 0)
    copy_bytes(to, from, count * bytes);
  else if (count == 1)
    std::memcpy(to, from, Bytes);
  else
    copy_bytes(to, from, count * Bytes);
}

/// Calls `with(copy)` with the copy of elements of so many bytes.
template <class With>
void with_copy(std::size_t bytes, With&& with) {
  if (bytes == 4) return with(copy_run<4>);
  if (bytes == 8) return with(copy_run<8>);
  if (bytes == 16) return with(copy_run<16>);
  with(copy_run<0>);
}

/// One where all blocks are alike.
std::span<const strided> strides_of(const block_layout& blocks) {
  return blocks.strided_as == block_layout::as::each ? blocks.strides : std::span(&blocks.alike, 1);
}

[[noreturn]] void refuse(const communicator_state& state, const request& call, const std::string& what) {
  throw error(errc::invalid_count, where(state, schedules::call_name(call.what)) + ": " + what);
}

}  // namespace

packed_blocks::buffer::buffer(std::span<const strided> how, block_counts of_each, block_counts where)
    : lies(how.begin(), how.end()),
      counts(of_each.begin(), of_each.end()),
      displacements(where.begin(), where.end()),
      packed(of_each.size()) {
  if (lies.size() == 1) lies.resize(counts.size(), lies[0]);
  for (std::size_t r = 0; r < counts.size(); ++r) {
    packed[r] = elements;
    elements += counts[r];
  }
}

packed_blocks packed_blocks::of(communicator_state& state, const request& call) {
  learn_to_announce(state);
  return telling_refusals(state, [&] { return packed_blocks(state, call); });
}

packed_blocks::packed_blocks(const communicator_state& state, const request& call)
    : call_(call), from_(static_cast<const std::byte*>(call.in)), to_(static_cast<std::byte*>(call.out)) {
  call_.strided = call_.received_strided = nullptr;
  if (call.at_root && state.member.rank != call.root) return;  // what it gives is ignored
  check_lists(state, call);
  const bool all_to_all = call.what == collective::alltoall;
  const bool is_input = all_to_all || call.what == collective::scatter;
  if (call.strided != nullptr) {
    auto& blocks = is_input ? input_ : output_;
    blocks.emplace(strides_of(*call.strided), call.counts, call.displacements);
    call_.displacements = blocks->packed;
  }
  if (all_to_all && call.received_strided != nullptr) {
    output_.emplace(strides_of(*call.received_strided), call.received, call.received_displacements);
    call_.received_displacements = output_->packed;
  }
  const bool root = !schedules::is_rooted(call.what) || state.member.rank == call.root;
  if (!root) return;  // it has no such buffer
  if (input_) {
    check_within(state, call, *input_, "input", call.in_count);
    input_->scratch = std::make_unique_for_overwrite<std::byte[]>(input_->elements * call.element_bytes);
    call_.in = input_->scratch.get();
    call_.in_count = input_->elements;
  }
  if (output_) {
    check_within(state, call, *output_, "output", call.out_count);
    check_apart(state, call, *output_);
    output_->scratch = std::make_unique_for_overwrite<std::byte[]>(output_->elements * call.element_bytes);
    call_.out = output_->scratch.get();
    call_.out_count = output_->elements;
  }
}

void packed_blocks::check_within(const communicator_state& state, const request& call, const buffer& blocks,
                                 const char* name, std::size_t count) {
  if (blocks.displacements.size() != blocks.counts.size())
    refuse(state, call,
           "there are " + std::to_string(blocks.displacements.size()) + " displacements for the blocks of " +
               std::to_string(blocks.counts.size()) + " ranks");
  if (blocks.lies.size() != blocks.counts.size())
    refuse(state, call,
           "there are " + std::to_string(blocks.lies.size()) + " strides for the blocks of " +
               std::to_string(blocks.counts.size()) + " ranks");
  for (std::size_t r = 0; r < blocks.counts.size(); ++r) {
    if (blocks.counts[r] == 0) continue;
    if (blocks.lies[r].length == 0)
      refuse(state, call, "the block of rank " + std::to_string(r) + " is strided in runs of no elements");
    const std::size_t extent = extent_of(blocks.lies[r], blocks.counts[r]), begin = blocks.displacements[r];
    if (begin > count || extent > count - begin)
      refuse(state, call,
             "the block of rank " + std::to_string(r) + " reaches over " + std::to_string(extent) +
                 " elements from number " + std::to_string(begin) + " on, but the " + name + " has " +
                 std::to_string(count));
  }
  check_memory(state, schedules::call_name(call.what), name[0] == 'i' ? call.in : call.out, count * call.element_bytes);
}

void packed_blocks::check_apart(const communicator_state& state, const request& call, const buffer& blocks) {
  std::vector<bool> taken(call.out_count);
  for (std::size_t r = 0; r < blocks.counts.size(); ++r)
    for_each_run(blocks.lies[r], blocks.counts[r], [&](std::size_t at, std::size_t count) {
      const auto first = taken.begin() + static_cast<std::ptrdiff_t>(blocks.displacements[r] + at);
      const auto end = first + static_cast<std::ptrdiff_t>(count);
      if (std::find(first, end, true) != end)
        refuse(state, call, "the block of rank " + std::to_string(r) + " overlaps itself or another one in the output");
      std::fill(first, end, true);
    });
}

void packed_blocks::pack() const noexcept {
  if (!input_ || input_->scratch == nullptr) return;
  const buffer& its = *input_;
  const std::size_t bytes = call_.element_bytes;
  with_copy(bytes, [&](auto copy) {
    std::byte* to = its.scratch.get();
    for (std::size_t r = 0; r < its.counts.size(); ++r)
      for_each_run(its.lies[r], its.counts[r], [&](std::size_t at, std::size_t count) {
        copy(to, from_ + (its.displacements[r] + at) * bytes, count, bytes);
        to += count * bytes;
      });
  });
}

void packed_blocks::unpack() const noexcept {
  if (!output_ || output_->scratch == nullptr) return;
  const buffer& its = *output_;
  const std::size_t bytes = call_.element_bytes;
  with_copy(bytes, [&](auto copy) {
    const std::byte* from = its.scratch.get();
    for (std::size_t r = 0; r < its.counts.size(); ++r)
      for_each_run(its.lies[r], its.counts[r], [&](std::size_t at, std::size_t count) {
        copy(to_ + (its.displacements[r] + at) * bytes, from, count, bytes);
        from += count * bytes;
      });
  });
}

}  // namespace weft::detail
