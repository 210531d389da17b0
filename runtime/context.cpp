#include <cxxabi.h>

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
    note(from, nullptr);
    self.entry_(self.argument_);
  }

  /// What to do first on a stack that was just switched to, whose fake stack is `fake_stack`.
  static void note(fcontext::transfer_t from, void* fake_stack) noexcept {
    context& left = *static_cast<context*>(from.data);
    left.resume_ = from.fctx;
    sanitizer::after_switch(fake_stack, &left.bottom_, &left.size_);
  }
};

context::context() noexcept
    : thread_exceptions_(reinterpret_cast<exception_state*>(abi::__cxa_get_globals())),
      sanitizer_fiber_(sanitizer::current_fiber()) {}

context::context(std::byte* bottom, std::byte* top, void (*entry)(void*), void* argument) noexcept
    : resume_(fcontext::make_fcontext(top, static_cast<std::size_t>(top - bottom), &arrival::at_new)),
      entry_(entry),
      argument_(argument),
      bottom_(bottom),
      size_(static_cast<std::size_t>(top - bottom)),
      sanitizer_fiber_(sanitizer::create_fiber()) {}

context::~context() {
  if (entry_ != nullptr) sanitizer::destroy_fiber(sanitizer_fiber_);
}

void context::prepare(context& target) noexcept {
  target_ = &target;
  sanitizer_fiber_ = sanitizer::current_fiber();  // a fiber may park on a coroutine's stack
  target.thread_exceptions_ = thread_exceptions_;
  exceptions_ = std::exchange(*thread_exceptions_, target.exceptions_);
}

void context::switch_to(context& target) noexcept {
  prepare(target);
  void* fake_stack = nullptr;
  sanitizer::before_switch(&fake_stack, target.bottom_, target.size_);
  sanitizer::become_fiber(target.sanitizer_fiber_);
  arrival::note(fcontext::jump_fcontext(target.resume_, this), fake_stack);
}

void context::leave_for(context& target) noexcept {
  prepare(target);
  sanitizer::before_switch(nullptr, target.bottom_, target.size_);
  sanitizer::become_fiber(target.sanitizer_fiber_);
  fcontext::jump_fcontext(target.resume_, this);
  __builtin_unreachable();
}

}  // namespace weft
