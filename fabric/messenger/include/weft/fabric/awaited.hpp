// SPDX-License-Identifier: Apache-2.0
// Operations that somebody waits for.
#pragma once

#include <weft/fabric/operation.hpp>
#include <weft/runtime/event.hpp>

namespace weft::fabric {

/// An operation on a message, and the event that it is done.
template <class Operation>
struct awaited final : Operation {
  void finished() noexcept override { done.set(); }
  event done;
};

}  // namespace weft::fabric
