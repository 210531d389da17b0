// SPDX-License-Identifier: Apache-2.0
#include <boost/context/detail/fcontext.hpp>
#include <utility>
#include <weft/runtime/context.hpp>

#include "sanitizer.hpp"

namespace weft {

namespace fcontext = boost::context::detail;

struct context::arrival {
  static void at_new(fcontext::transfer_t from) noexcept {
    context& left = *static_cast<context*>(from.data);
    context& self = *left.target_;
    if (self.announces_)
      note(from, nullptr);
    else
      note(from);
    self.entry_(self.argument_);
  }

  /// What to do first on a stack that was just switched to.
  static void note(fcontext::transfer_t from) noexcept { static_cast<context*>(from.data)->resume_ = from.fctx; }

  /// The same where sanitizers are told, of a stack whose fake stack is `fake_stack`.
  static void note(fcontext::transfer_t from, void* fake_stack) noexcept {
    note(from);
    context& left = *static_cast<context*>(from.data);
    sanitizer::after_switch(fake_stack, &left.bottom_, &left.size_);
  }
};

context::context() noexcept
    : thread_exceptions_(&detail::look_up_exceptions()),
      announces_(sanitizer::hear_switches()),
      sanitizer_fiber_(sanitizer::current_fiber()) {}

context::context(std::byte* bottom, std::byte* top, void (*entry)(void*), void* argument) noexcept
    : resume_(fcontext::make_fcontext(top, static_cast<std::size_t>(top - bottom), &arrival::at_new)),
      entry_(entry),
      argument_(argument),
      announces_(sanitizer::hear_switches()),
      bottom_(bottom),
      size_(static_cast<std::size_t>(top - bottom)),
      sanitizer_fiber_(sanitizer::create_fiber()) {}

context::~context() {
  if (entry_ != nullptr) sanitizer::destroy_fiber(sanitizer_fiber_);
}

void context::prepare(context& target) noexcept {
  target_ = &target;
  target.thread_exceptions_ = thread_exceptions_;
  exceptions_ = std::exchange(*thread_exceptions_, target.exceptions_);
}

void context::announce(context& target, void** fake_stack) noexcept {
  sanitizer_fiber_ = sanitizer::current_fiber();  // a fiber may park on a coroutine's stack
  sanitizer::before_switch(fake_stack, target.bottom_, target.size_);
  sanitizer::become_fiber(target.sanitizer_fiber_);
}

// Not inlined: backtraces of who is parked begin here, and nothing of the thread's is kept across it.
[[gnu::noinline]] void context::switch_to(context& target) noexcept {
  prepare(target);
  if (announces_) [[unlikely]]
    return switch_watched(target);
  arrival::note(fcontext::jump_fcontext(target.resume_, this));
}

void context::switch_watched(context& target) noexcept {
  void* fake_stack = nullptr;
  announce(target, &fake_stack);
  arrival::note(fcontext::jump_fcontext(target.resume_, this), fake_stack);
}

void context::leave_for(context& target) noexcept {
  prepare(target);
  if (announces_) announce(target, nullptr);
  fcontext::jump_fcontext(target.resume_, this);
  __builtin_unreachable();
}

}  // namespace weft
