// SPDX-License-Identifier: Apache-2.0
// What all ranks of a communicator say of themselves.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <weft/calls/call_ways.hpp>
#include <weft/calls/communicator_state.hpp>
#include <weft/request.hpp>

namespace weft::detail {

/// By rank: one copy for the ranks of a process, where they meet in its memory.
template <class Part>
class gathered {
 public:
  /// The call that gathers them.
  request gathering(communicator_state& state, const Part& mine) {
    request call;
    call.what = collective::allgather;
    call.in = &mine;
    call.in_count = sizeof mine;
    call.out_count = bytes_ = sizeof mine * static_cast<std::size_t>(state.size());
    if (joins(state, call)) {
      call.common_output = &memory_;
    } else {
      memory_ = std::make_shared_for_overwrite<std::byte[]>(bytes_);
      call.out = memory_.get();
    }
    return call;
  }
  std::span<const Part> all() const { return {reinterpret_cast<const Part*>(memory_.get()), bytes_ / sizeof(Part)}; }

 private:
  std::size_t bytes_ = 0;
  std::shared_ptr<std::byte[]> memory_;
};

}  // namespace weft::detail
