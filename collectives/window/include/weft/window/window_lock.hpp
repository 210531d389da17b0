// SPDX-License-Identifier: Apache-2.0
// The lock of a rank of a window, where it is in memory.
#pragma once

#include <weft/window.hpp>

namespace weft::detail {

/// Takes it if it is free for that.
inline bool try_lock_near(window_control& at, lock_mode mode) noexcept {
  // seq_cst, as in unlock_near(): what was done under the lock before is seen under this one.
  std::uint32_t held = at.lock.load();
  if (mode == lock_mode::exclusive)
    return held == 0 && at.lock.compare_exchange_strong(held, window_control::exclusive);
  while ((held & window_control::exclusive) == 0)
    if (at.lock.compare_exchange_weak(held, held + 1)) return true;
  return false;
}

/// Whether somebody holds it so.
inline bool is_held_near(const window_control& at, lock_mode mode) noexcept {
  const std::uint32_t held = at.lock.load();
  return mode == lock_mode::exclusive ? held == window_control::exclusive
                                      : held != 0 && held < window_control::exclusive;
}

inline void unlock_near(window_control& at, lock_mode mode) noexcept {
  at.lock.fetch_sub(mode == lock_mode::exclusive ? window_control::exclusive : 1);
}

}  // namespace weft::detail
