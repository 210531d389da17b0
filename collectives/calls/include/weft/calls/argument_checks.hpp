// SPDX-License-Identifier: Apache-2.0
// Checks of what callers give to communicators. Each throws a kind of errc::invalid_argument, which names the
// operation, the rank and the communicator, what was wrong, and what would be right.
#pragma once

#include <weft/calls/communicator_state.hpp>
#include <weft/request.hpp>
#include <weft/request/request_shape.hpp>
#include <weft/status.hpp>

namespace weft::detail {

/// Throw what the checks below do.
[[noreturn]] void refuse_rank(const communicator_state& state, const char* operation, const char* role, int rank,
                              bool or_any);
[[noreturn]] void refuse_tag(const communicator_state& state, const char* operation, std::int64_t tag, bool or_any);
[[noreturn]] void refuse_memory(const communicator_state& state, const char* operation, std::size_t bytes);

/// `role` is what the caller calls the rank: "root".
inline void check_rank(const communicator_state& state, const char* operation, const char* role, int rank,
                       bool or_any) {
  if ((rank < 0 || rank >= state.size()) && !(or_any && rank == any_source)) [[unlikely]]
    refuse_rank(state, operation, role, rank, or_any);
}
inline void check_tag(const communicator_state& state, const char* operation, std::int64_t tag, bool or_any) {
  if ((tag < 0 || tag > largest_tag) && !(or_any && tag == any_tag)) [[unlikely]]
    refuse_tag(state, operation, tag, or_any);
}
/// `data` is null only where there is nothing to read or write.
inline void check_memory(const communicator_state& state, const char* operation, const void* data, std::size_t bytes) {
  if (data == nullptr && bytes != 0) [[unlikely]]
    refuse_memory(state, operation, bytes);
}

/// Input and output are apart.
inline bool are_apart(const request& call) noexcept {
  const auto* const in = static_cast<const std::byte*>(call.in);
  const auto* const out = static_cast<const std::byte*>(call.out);
  return in >= out + call.out_count * call.element_bytes || out >= in + call.in_count * call.element_bytes;
}

/// Whether a reduce-scatter in place is to have its block where its input begins, and not where the block lies in it.
inline bool is_at_front(const request& call, const request_shape& shape) noexcept {
  return call.what == collective::reduce_scatter && call.in == call.out && shape.before != 0 && shape.block != 0;
}

/// The sum of the counts of so many blocks, one for each of `whose` ("rank"): a number of bytes.
std::size_t total_count(const communicator_state& state, const char* operation, std::size_t element_bytes,
                        block_counts counts, std::size_t blocks, const char* whose);
/// Counts and displacements are as many as ranks, and the counts add up to what memory can hold. Of a call that has
/// them.
void check_lists(const communicator_state& state, const request& call);
/// What cannot be right on this rank, whatever the others give: in all but the buffers' addresses. Returns what the
/// buffers hold.
request_shape check_counts(const communicator_state& state, const request& call);
/// And in the addresses.
void check_odd_buffers(const communicator_state& state, const request& call, const request_shape& shape);
inline void check_buffers(const communicator_state& state, const request& call, const request_shape& shape) {
  if (call.in == nullptr || call.out == nullptr || !are_apart(call)) check_odd_buffers(state, call, shape);
}

}  // namespace weft::detail
