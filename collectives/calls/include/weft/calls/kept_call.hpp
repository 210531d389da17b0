// SPDX-License-Identifier: Apache-2.0
// What a call is given, where it outlives the caller's own.
#pragma once

#include <cstddef>
#include <vector>
#include <weft/request/known_call.hpp>

namespace weft::detail {

struct kept_call {
  kept_call(const request& its, const known_call& so_known)
      : call(its),
        known(so_known),
        counts_(its.counts.begin(), its.counts.end()),
        received_(its.received.begin(), its.received.end()) {
    keep_counts();
    known.has_joined = false;
  }
  /// The same of another one that can be known. Throws std::bad_alloc.
  void keep(const request& its, const known_call& so_known) {
    const bool is_same = known.number == so_known.number && static_cast<const request_arguments&>(call) == its;
    if (!is_same) {
      counts_.assign(its.counts.begin(), its.counts.end());
      received_.assign(its.received.begin(), its.received.end());
      known = so_known;
      known.has_joined = false;
    }
    call = its;
    keep_counts();
  }
  /// Frees what a caller gave for this one call: his operator, or what stands in for his input.
  void forget_given() noexcept {
    call.custom = known.between.custom = {};
    call.keeps.reset();
  }
  kept_call(const kept_call&) = delete;
  kept_call& operator=(const kept_call&) = delete;

  request call;
  known_call known;

 private:
  void keep_counts() noexcept {
    call.counts = counts_;
    call.received = received_;
    call.displacements = call.received_displacements = {};  // such a call goes by messages: its plan has them
  }

  std::vector<std::size_t> counts_, received_;
};

}  // namespace weft::detail
