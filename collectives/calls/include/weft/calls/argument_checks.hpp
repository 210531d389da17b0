// Checks of what callers give to communicators. Each throws errc::invalid_argument that names the operation, the rank
// and the communicator, what was wrong, and what would be right.
#pragma once

#include <weft/calls/communicator_state.hpp>
#include <weft/request.hpp>
#include <weft/request/request_shape.hpp>

namespace weft::detail {

/// `role` is what the caller calls the rank: "root".
void check_rank(const communicator_state& state, const char* operation, const char* role, int rank, bool or_any);
void check_tag(const communicator_state& state, const char* operation, int tag, bool or_any);
/// `data` is null only where there is nothing to read or write.
void check_memory(const communicator_state& state, const char* operation, const void* data, std::size_t bytes);

/// What cannot be right on this rank, whatever the others give: in all but the buffers' addresses. Returns what the
/// buffers hold.
request_shape check_counts(const communicator_state& state, const request& call);
/// And in the addresses.
void check_buffers(const communicator_state& state, const request& call, const request_shape& shape);

}  // namespace weft::detail
