// SPDX-License-Identifier: Apache-2.0
// Calls of libraries that know no deadline, made to keep one.
#pragma once

#include <chrono>
#include <future>
#include <optional>
#include <type_traits>
#include <utility>
#include <weft/runtime/thread.hpp>

namespace weft {

/// What `call` returns, called in a thread of its own; nothing when it has not returned by the deadline. Then that
/// thread goes on with nobody who waits for it, so `call` must own what it uses. Throws what `call` throws in time.
template <typename Call>
auto call_before(std::chrono::steady_clock::time_point deadline, Call call)
    -> std::optional<std::invoke_result_t<Call&>> {
  std::packaged_task<std::invoke_result_t<Call&>()> task(std::move(call));
  auto result = task.get_future();
  thread calling("weft-call", std::move(task));
  if (result.wait_until(deadline) != std::future_status::ready) {
    calling.detach();
    return std::nullopt;
  }
  calling.join();
  return result.get();
}

}  // namespace weft
