// SPDX-License-Identifier: Apache-2.0
// What else of the public API waits by.
#pragma once

namespace weft {

class event;
class progress;
class runtime;

namespace detail {

progress& moved_by(runtime& of) noexcept;

/// Returns once another thread, which is about to, has set it. For the end of a wait that polling has broken off.
void await_set(const event& soon) noexcept;

}  // namespace detail
}  // namespace weft
