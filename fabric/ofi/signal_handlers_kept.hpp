// SPDX-License-Identifier: Apache-2.0
// Signal handlers that a library leaves alone.
#pragma once

#include <csignal>
#include <cstddef>
#include <iterator>

namespace weft::fabric {

/// Puts back, when it goes, the handlers of the signals that shm takes for itself when it is opened, and libinfinipath
/// and libpsm2 when they are loaded: a library has no business with its host's signals.
class signal_handlers_kept {
 public:
  signal_handlers_kept() noexcept {
    for (std::size_t i = 0; i < std::size(numbers); ++i) sigaction(numbers[i], nullptr, &before_[i]);
  }
  ~signal_handlers_kept() {
    for (std::size_t i = 0; i < std::size(numbers); ++i) sigaction(numbers[i], &before_[i], nullptr);
  }
  signal_handlers_kept(const signal_handlers_kept&) = delete;
  signal_handlers_kept& operator=(const signal_handlers_kept&) = delete;

 private:
  static constexpr int numbers[] = {SIGINT, SIGTERM, SIGSEGV, SIGBUS, SIGILL, SIGABRT, SIGFPE};
  struct sigaction before_[std::size(numbers)];
};

}  // namespace weft::fabric
