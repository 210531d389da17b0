// SPDX-License-Identifier: Apache-2.0
// Exceptions that unwind the running thread or fiber.
#pragma once

namespace weft {
namespace detail {

struct exception_state {  // the Itanium C++ ABI's __cxa_eh_globals
  void* caught = nullptr;
  unsigned int uncaught = 0;
};

/// The calling thread's; null: not looked up yet.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local exception_state* own_exceptions;
exception_state& look_up_exceptions() noexcept;

}  // namespace detail

/// As std::uncaught_exceptions, without its calls.
inline int uncaught_exceptions() noexcept {
  const detail::exception_state* const its = detail::own_exceptions;
  return static_cast<int>(its != nullptr ? its->uncaught : detail::look_up_exceptions().uncaught);
}

}  // namespace weft
