// SPDX-License-Identifier: Apache-2.0
// What one run of a collective is given, whatever carries it out.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <weft/fabric/operation.hpp>
#include <weft/operators.hpp>

namespace weft::detail {

/// What the runs of a call differ in.
struct run_arguments {
  const std::byte* in = nullptr;
  std::byte* out = nullptr;
  std::uint32_t sequence = 0;     ///< of the collective on its communicator
  std::uint64_t fingerprint = 0;  ///< what all ranks must agree on
  user_function custom;           ///< an operator of the caller's, which lives until the run has ended
  std::chrono::steady_clock::time_point* ended = nullptr;  ///< where a dataflow run is to say when it has
  std::shared_ptr<const fabric::poison> poisoned = {};     ///< there is no input, so all that is sent is poisoned
  bool odd = false;  ///< of runs of the same sequence at a time one may be odd: their messages are told apart
};

}  // namespace weft::detail
