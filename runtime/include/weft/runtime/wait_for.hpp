// SPDX-License-Identifier: Apache-2.0
// The loop of every wait for what another thread or process publishes in memory.
#pragma once

#include <weft/runtime/backoff.hpp>
#include <weft/runtime/coroutine.hpp>
#include <weft/runtime/scheduler.hpp>

namespace weft {

/// Leaves the coroutine that is to be left where it would wait; false where there is none.
template <class Awaited>
bool leave_from(Awaited& it) {
  if (!coroutine::leave()) return false;
  if constexpr (requires { it.came_back(); }) it.came_back();
  return true;
}

/// Waits until what is awaited has come: true; or is given up: false. Of a thread or fiber, or of a coroutine, which is
/// left where it would wait. What is awaited has
///
///     bool has_come()         acquires what was published
///     bool is_given_up()      by a failure or a deadline; asked where it has not come
///     int looks()             so many before the core is given to others
///     void came_after(int)    these looks
///     void before_pauses()    wakes who sleeps for this thread, which goes on later; perhaps several times
///     void rest_core()        between two looks; where it is missing the core pauses
///     void came_back()        to a coroutine that was left here; may be missing, too
///     void pause()            blocks for a while, or until it may have come; polls, and lets other fibers run
template <class Awaited>
bool wait_for(Awaited& it) {
  constexpr int looks_between_turns = 32;  // of other fibers
  for (int look = 0; look < it.looks(); ++look) {
    if (it.has_come()) [[likely]]
      return it.came_after(look), true;
    if (look == 0 && coroutine::leaves()) {
      if (it.is_given_up()) return false;
      it.before_pauses();
      leave_from(it);
      look = -1;
      continue;
    }
    if constexpr (requires { it.rest_core(); })
      it.rest_core();
    else
      pause_core();
    if (look % looks_between_turns == looks_between_turns - 1) {
      it.before_pauses();
      scheduler::yield();
    }
  }
  it.before_pauses();
  while (!it.has_come()) {
    if (it.is_given_up()) return false;
    if (!leave_from(it)) it.pause();
  }
  return true;
}

}  // namespace weft
