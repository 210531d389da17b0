// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <weft/runtime/event.hpp>
#include <weft/runtime/fiber.hpp>
#include <weft/runtime/patience.hpp>
#include <weft/runtime/scheduler.hpp>

namespace weft {

void patience::wait() {
  if (by_.help()) return pause_.reset();
  pause_.pause([this](auto longest, progress*) {
    if (fiber::current() == nullptr) return by_.sleep_until_rung(longest);
    event never;
    never.wait_until(by_, by_.time().now() + std::min<clock::duration>(longest, backoff::longest_sleep));
  });
  if (fiber::current() != nullptr) scheduler::yield();
}

}  // namespace weft
