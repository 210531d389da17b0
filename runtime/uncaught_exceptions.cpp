// SPDX-License-Identifier: Apache-2.0
#include <cxxabi.h>

#include <weft/runtime/uncaught_exceptions.hpp>

namespace weft::detail {

constinit thread_local exception_state* own_exceptions = nullptr;

exception_state& look_up_exceptions() noexcept {
  return *(own_exceptions = reinterpret_cast<exception_state*>(abi::__cxa_get_globals()));
}

}  // namespace weft::detail
