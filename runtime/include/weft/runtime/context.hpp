// SPDX-License-Identifier: Apache-2.0
// Switches from one stack to another.
#pragma once

#include <cstddef>
#include <weft/runtime/uncaught_exceptions.hpp>

namespace weft {

/// Somewhere to switch to: a suspended flow of control with its C++ exceptions in flight. Needed by fibers and
/// schedulers only.
///
/// A switch saves and restores the calling thread's exception state (what __cxa_get_globals returns), so a fiber may
/// park in a catch block or in a destructor that unwinding called. AddressSanitizer and ThreadSanitizer are told of it,
/// where they watch the program, whether or not weft was compiled for them.
class context {
 public:
  /// The calling thread's own flow of control.
  context() noexcept;
  /// A flow of control that begins with `entry(argument)` below `top` when it is first switched to. `entry` never
  /// returns: it ends with `leave_for`.
  context(std::byte* bottom, std::byte* top, void (*entry)(void*), void* argument) noexcept;
  context(const context&) = delete;
  context& operator=(const context&) = delete;
  ~context();

  /// Suspends the running context, which must be this one, and goes on with `target`, which must be suspended, of this
  /// thread, and not this one. Returns when something switches back here.
  void switch_to(context& target) noexcept;
  /// The same for good: nothing may switch back here.
  [[noreturn]] void leave_for(context& target) noexcept;

  /// Of where it goes on, while it is suspended (fcontext_t); for those who look into this process from outside. It is
  /// the first word of the context.
  const void* left_at() const noexcept { return &resume_; }

 private:
  struct arrival;
  void prepare(context& target) noexcept;
  void announce(context& target, void** fake_stack) noexcept;
  [[gnu::noinline]] void switch_watched(context& target) noexcept;

  void* resume_ = nullptr;  // where to go on (fcontext_t), while suspended; first: see left_at()
  void (*entry_)(void*) = nullptr;
  void* argument_ = nullptr;
  context* target_ = nullptr;                             // of the last switch away
  detail::exception_state* thread_exceptions_ = nullptr;  // the running thread's
  detail::exception_state exceptions_;
  const bool announces_;          // switches, to sanitizers
  const void* bottom_ = nullptr;  // of the stack, for AddressSanitizer
  std::size_t size_ = 0;
  void* sanitizer_fiber_ = nullptr;  // ThreadSanitizer's
};

}  // namespace weft
