// SPDX-License-Identifier: Apache-2.0
// Who may touch an endpoint.
#pragma once

#include <atomic>
#include <weft/runtime/backoff.hpp>

namespace weft::fabric {

/// A lock that is tried far more often than waited for: whoever needs the endpoint takes it if it is free, and leaves
/// its work in a queue if it is not. Its holder never blocks.
class token {
 public:
  bool try_acquire() noexcept {
    // The relaxed look keeps a taken token's cache line shared; acquire pairs with release() of the last holder, so
    // that everything it did to the endpoint is visible.
    return !held_.load(std::memory_order_relaxed) && !held_.exchange(true, std::memory_order_acquire);
  }
  void acquire() noexcept {
    for (backoff pause; !try_acquire();) pause.pause();
  }
  /// release: pairs with the next holder's acquire.
  void release() noexcept { held_.store(false, std::memory_order_release); }

 private:
  alignas(64) std::atomic<bool> held_{false};
};

/// Holds the token while it lives.
class token_holder {
 public:
  explicit token_holder(token& held) noexcept : held_(held) { held_.acquire(); }
  token_holder(const token_holder&) = delete;
  token_holder& operator=(const token_holder&) = delete;
  ~token_holder() { held_.release(); }

 private:
  token& held_;
};

}  // namespace weft::fabric
