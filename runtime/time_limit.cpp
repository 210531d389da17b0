// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <exception>
#include <utility>
#include <weft/runtime/fiber.hpp>
#include <weft/runtime/time_limit.hpp>

namespace weft {

time_limit::time_limit(time_point when) noexcept
    : outer_(in_force()),
      when_(outer_ == nullptr ? when : std::min(when, outer_->when_)),
      exceptions_(std::uncaught_exceptions()) {
  in_force() = this;
  alive_.fetch_add(1, std::memory_order_relaxed);  // relaxed: see current()
}

time_limit::~time_limit() {
  in_force() = outer_;
  alive_.fetch_sub(1, std::memory_order_relaxed);
  if (std::uncaught_exceptions() <= exceptions_) return;
  for (const auto& each : left_)
    if (const auto left = each.lock()) left->drop();
}

time_limit* time_limit::find() noexcept { return in_force(); }

time_limit*& time_limit::in_force() noexcept {
  static constinit thread_local time_limit* of_thread = nullptr;
  fiber* const mine = fiber::current();
  return mine == nullptr ? of_thread : mine->limit_;
}

}  // namespace weft
