// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <vector>
#include <weft/calls/argument_checks.hpp>
#include <weft/runtime/error.hpp>
#include <weft/status.hpp>

namespace weft::detail {
namespace {

[[noreturn]] void refuse(const communicator_state& state, const char* operation, errc kind, const std::string& what) {
  throw error(kind, where(state, operation) + ": " + what);
}

/// Counts and lengths.
[[noreturn]] void refuse_count(const communicator_state& state, const request& call, const std::string& what) {
  refuse(state, schedules::call_name(call.what), errc::invalid_count, what);
}

std::string elements(std::size_t count) { return std::to_string(count) + (count == 1 ? " element" : " elements"); }

/// What is given as a signed integer is kept as the std::size_t that it converts to.
bool is_negative(std::size_t given) noexcept { return given > std::numeric_limits<std::size_t>::max() / 2; }

[[noreturn]] void refuse_negative(const communicator_state& state, const char* operation, const std::string& what,
                                  std::size_t given) {
  refuse(state, operation, errc::invalid_count,
         what + " is " + std::to_string(static_cast<std::ptrdiff_t>(given)) + ": it must be 0 or more");
}

/// Of each rank.
std::size_t total(const communicator_state& state, const request& call, block_counts counts) {
  return total_count(state, schedules::call_name(call.what), call.element_bytes, counts,
                     static_cast<std::size_t>(state.size()), "rank");
}

void check_even_blocks(const communicator_state& state, const request& call, const request_shape& shape) {
  const auto ranks = static_cast<std::size_t>(state.size());
  if (call.what == collective::alltoall) {
    if (call.in_count != call.out_count)
      refuse_count(state, call,
                   "the input has " + elements(call.in_count) + ", the output " + std::to_string(call.out_count) +
                       ": they must have as many");
    if (call.in_count % ranks != 0)
      refuse_count(state, call,
                   "input and output have " + elements(call.in_count) + ", which are not as many for each of " +
                       std::to_string(ranks) + " ranks");
    return;
  }
  if (shape.block > std::numeric_limits<std::size_t>::max() / call.element_bytes / ranks)
    refuse_count(state, call, "blocks of " + elements(shape.block) + " are more than memory can hold");
  const bool in_blocks = has_input_blocks(call.what);
  const std::size_t all = in_blocks ? call.in_count : call.out_count;
  if ((in_blocks ? shape.with_input : shape.with_output) && all != shape.block * ranks)
    refuse_count(state, call,
                 std::string("the ") + (in_blocks ? "input" : "output") + " of a block for each of " +
                     std::to_string(ranks) + " ranks has " + elements(all) + ", the " +
                     (in_blocks ? "output" : "input") + " of one block " + std::to_string(shape.block) +
                     ": it must have " + std::to_string(shape.block * ranks));
}

void check_count(const communicator_state& state, const request& call, const char* buffer, std::size_t count,
                 std::size_t right, bool blocks) {
  if (count == right) return;
  refuse_count(state, call,
               std::string("the ") + buffer + " has " + elements(count) + ", but " +
                   (blocks ? "the counts of its blocks add up to " : "the count of this rank's block is ") +
                   std::to_string(right));
}

/// As many as ranks, and none negative.
void check_displacements(const communicator_state& state, const request& call, block_counts where) {
  if (where.size() != static_cast<std::size_t>(state.size()))
    refuse_count(state, call,
                 "there are " + std::to_string(where.size()) + " displacements for the blocks of " +
                     std::to_string(state.size()) + " ranks");
  for (std::size_t r = 0; r < where.size(); ++r)
    if (is_negative(where[r]))
      refuse_negative(state, schedules::call_name(call.what), "the displacement of rank " + std::to_string(r),
                      where[r]);
}

/// No two of them have an element in common.
void check_apart(const communicator_state& state, const request& call, block_counts counts, block_counts where) {
  const auto is_behind = [&](std::size_t one, std::size_t other) {
    return where[one] >= where[other] && where[one] - where[other] >= counts[other];
  };
  bool in_order = true;
  std::size_t last = 0;  // of those that are not empty
  for (std::size_t r = 1; r < counts.size() && in_order; ++r) {
    if (counts[r] == 0) continue;
    in_order = counts[last] == 0 || is_behind(r, last);
    last = r;
  }
  if (in_order) return;
  std::vector<std::size_t> ranks;
  for (std::size_t r = 0; r < counts.size(); ++r)
    if (counts[r] != 0) ranks.push_back(r);
  std::ranges::sort(ranks, {}, [&](std::size_t r) { return where[r]; });
  for (std::size_t i = 1; i < ranks.size(); ++i) {
    if (is_behind(ranks[i], ranks[i - 1])) continue;
    const auto [first, second] = std::minmax(ranks[i - 1], ranks[i]);
    refuse_count(
        state, call,
        "the blocks of ranks " + std::to_string(first) + " and " + std::to_string(second) + " overlap in the output");
  }
}

/// A buffer with a block of each rank, which have `all` elements: where they are displaced they lie in it, and apart
/// where they are received.
void check_blocks(const communicator_state& state, const request& call, const char* buffer, std::size_t count,
                  std::size_t all, block_counts counts, block_counts where, bool received) {
  if (where.empty()) return check_count(state, call, buffer, count, all, true);
  for (std::size_t r = 0; r < counts.size(); ++r)
    if (where[r] > count || counts[r] > count - where[r])
      refuse_count(state, call,
                   "the block of rank " + std::to_string(r) + " has " + elements(counts[r]) + " from number " +
                       std::to_string(where[r]) + " on, but the " + buffer + " has " + std::to_string(count));
  if (received) check_apart(state, call, counts, where);
}

void check_uneven_blocks(const communicator_state& state, const request& call, const request_shape& shape) {
  const auto rank = static_cast<std::size_t>(state.member.rank);
  const std::size_t all = total(state, call, call.counts);
  if (call.what == collective::alltoall) {
    const std::size_t received = total(state, call, call.received);
    check_blocks(state, call, "input", call.in_count, all, call.counts, call.displacements, false);
    check_blocks(state, call, "output", call.out_count, received, call.received, call.received_displacements, true);
    if (call.counts[rank] != call.received[rank])
      refuse_count(state, call,
                   "this rank sends itself " + elements(call.counts[rank]) + " and receives " +
                       std::to_string(call.received[rank]) + " from itself");
    return;
  }
  const bool in_blocks = has_input_blocks(call.what);
  const std::size_t own = call.counts[rank];
  if (shape.with_input && in_blocks)
    check_blocks(state, call, "input", call.in_count, all, call.counts, call.displacements, false);
  else if (shape.with_input)
    check_count(state, call, "input", call.in_count, own, false);
  if (shape.with_output && !in_blocks)
    check_blocks(state, call, "output", call.out_count, all, call.counts, call.displacements, true);
  else if (shape.with_output)
    check_count(state, call, "output", call.out_count, own, false);
}

/// Input and output, which overlap, are those of a call in place.
void check_in_place(const communicator_state& state, const request& call, const request_shape& shape) {
  const auto* const in = static_cast<const std::byte*>(call.in);
  const auto* const out = static_cast<const std::byte*>(call.out);
  const char* const operation = schedules::call_name(call.what);
  const std::size_t before = shape.before * call.element_bytes;
  if (!schedules::has_blocks(call.what) || call.what == collective::alltoall) {
    if (in != out)
      refuse(state, operation, errc::invalid_buffer, "input and output overlap: they must be the same or apart");
  } else if (has_input_blocks(call.what)) {
    if (out != in + before && (out != in || call.what != collective::reduce_scatter))
      refuse(state, operation, errc::invalid_buffer,
             "input and output overlap: they must be apart, or the output this rank's block of the input");
  } else if (in != out + before) {
    refuse(state, operation, errc::invalid_buffer,
           "input and output overlap: they must be apart, or the input this rank's block of the output");
  }
}

}  // namespace

void refuse_rank(const communicator_state& state, const char* operation, const char* role, int rank, bool or_any) {
  refuse(state, operation, std::string_view(role) == "root" ? errc::invalid_root : errc::invalid_rank,
         std::string(role) + " " + std::to_string(rank) + " is not a rank of the communicator: valid are 0 to " +
             std::to_string(state.size() - 1) + (or_any ? " and any_source" : ""));
}

void refuse_tag(const communicator_state& state, const char* operation, std::int64_t tag, bool or_any) {
  refuse(state, operation, errc::invalid_tag,
         "tag " + std::to_string(tag) + " is not valid: tags are 0 to " + std::to_string(largest_tag) +
             (or_any ? ", or any_tag" : ""));
}

void refuse_memory(const communicator_state& state, const char* operation, std::size_t bytes) {
  refuse(state, operation, errc::invalid_buffer, "a buffer of " + std::to_string(bytes) + " bytes at address 0");
}

std::size_t total_count(const communicator_state& state, const char* operation, std::size_t element_bytes,
                        block_counts counts, std::size_t blocks, const char* whose) {
  if (counts.size() != blocks)
    refuse(state, operation, errc::invalid_count,
           "there are " + std::to_string(counts.size()) + " counts for the blocks of " + std::to_string(blocks) + " " +
               whose + "s");
  const std::size_t most = std::numeric_limits<std::size_t>::max() / 2 / element_bytes;
  std::size_t sum = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > most - sum) [[unlikely]] {
      if (is_negative(counts[i]))
        refuse_negative(state, operation, std::string("the count of ") + whose + " " + std::to_string(i), counts[i]);
      refuse(state, operation, errc::invalid_count, "the counts add up to more than memory can hold");
    }
    sum += counts[i];
  }
  return sum;
}

void check_lists(const communicator_state& state, const request& call) {
  total(state, call, call.counts);
  if (call.what == collective::alltoall) total(state, call, call.received);
  if (!call.displaced) return;
  // Of an all-to-all one of the two buffers may be.
  if (call.what != collective::alltoall || !call.displacements.empty())
    check_displacements(state, call, call.displacements);
  if (!call.received_displacements.empty()) check_displacements(state, call, call.received_displacements);
}

request_shape check_counts(const communicator_state& state, const request& call) {
  const char* const operation = schedules::call_name(call.what);
  if (schedules::is_rooted(call.what)) check_rank(state, operation, "root", call.root, false);
  const bool root_knows = call.at_root && state.member.rank != call.root;  // and this rank does not
  if (schedules::has_blocks(call.what) && call.uneven && !root_knows) check_lists(state, call);
  const request_shape shape = shape_of(call, state.member.rank, state.size());
  if (root_knows) return shape;
  if (schedules::has_blocks(call.what)) {
    if (call.uneven)
      check_uneven_blocks(state, call, shape);
    else
      check_even_blocks(state, call, shape);
  } else if (shape.with_output && call.in_count != call.out_count) {
    refuse_count(
        state, call,
        "the input has " + std::to_string(call.in_count) + " elements, the output " + std::to_string(call.out_count));
  }
  if (schedules::combines(call.what) && call.custom.apply == nullptr && !kernels::is_built(call.op, call.type))
    refuse(state, operation, errc::invalid_operator, kernels::refusal(call.op, call.type));
  return shape;
}

void check_odd_buffers(const communicator_state& state, const request& call, const request_shape& shape) {
  const bool with_output = shape.with_output && call.common_output == nullptr;
  if (shape.with_input && call.in == nullptr)
    check_memory(state, schedules::call_name(call.what), nullptr, call.in_count * call.element_bytes);
  if (with_output && call.out == nullptr)
    check_memory(state, schedules::call_name(call.what), nullptr, call.out_count * call.element_bytes);
  if (shape.with_input && with_output && !are_apart(call)) check_in_place(state, call, shape);
}

}  // namespace weft::detail
