// SPDX-License-Identifier: Apache-2.0
#include "stack_watch.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <mutex>
#include <new>
#include <string_view>
#include <weft/runtime/fiber.hpp>

namespace weft {
namespace {

/// The program's own handler may be one that prints where everything is.
constexpr std::size_t room_of_handlers = 64 << 10;

struct sigaction handler_before;

/// A line, put together without memory from elsewhere.
class line {
 public:
  line& operator<<(std::string_view text) noexcept {
    length_ += text.copy(text_.data() + length_, text_.size() - length_);
    return *this;
  }
  line& operator<<(std::size_t number) noexcept {
    std::array<char, 20> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    return *this << std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data()));
  }
  void write() const noexcept { [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text_.data(), length_); }

 private:
  std::array<char, 200> text_{};
  std::size_t length_ = 0;
};

void explain(const fiber& running) noexcept {
  line said;
  said << "weft: ";
  if (running.rank() < 0)
    said << "a fiber";
  else
    said << "rank " << static_cast<std::size_t>(running.rank());
  said << " needs more stack than the " << running.memory().size() / 1024
       << " KiB that a fiber has: --weft-fiber-stack or WEFT_FIBER_STACK makes it longer\n";
  said.write();
}

// From here on only what a handler of a signal may call.

void handle_fault(int number, siginfo_t* info, void* where) noexcept {
  const int kept = errno;
  const fiber* const running = fiber::current();
  const bool is_fault = info->si_code > 0;  // else somebody has sent it
  if (running != nullptr && is_fault && running->memory().guards(info->si_addr)) explain(*running);
  errno = kept;
  if ((handler_before.sa_flags & SA_SIGINFO) != 0) return handler_before.sa_sigaction(number, info, where);
  if (handler_before.sa_handler != SIG_DFL && handler_before.sa_handler != SIG_IGN)
    return handler_before.sa_handler(number);
  // What faulted does so again, so that a core dump shows that.
  ::sigaction(number, &handler_before, nullptr);
  if (!is_fault) ::raise(number);
}

void install_handler() noexcept {
  if (::sigaction(SIGSEGV, nullptr, &handler_before) != 0) return;
  struct sigaction own = handler_before;
  own.sa_flags |= SA_SIGINFO | SA_ONSTACK;
  own.sa_sigaction = handle_fault;
  ::sigaction(SIGSEGV, &own, nullptr);
}

}  // namespace

stack_watch::stack_watch() noexcept {
  static std::once_flag installed;
  std::call_once(installed, install_handler);
  stack_t before{};
  if (::sigaltstack(nullptr, &before) != 0 || (before.ss_flags & SS_DISABLE) == 0) return;
  const std::size_t size = std::max(room_of_handlers, static_cast<std::size_t>(::sysconf(_SC_SIGSTKSZ)));
  memory_.reset(new (std::nothrow) std::byte[size]);
  if (memory_ == nullptr) return;
  const stack_t own{memory_.get(), 0, size};
  ::sigaltstack(&own, nullptr);
}

stack_watch::~stack_watch() {
  stack_t now{};
  if (memory_ == nullptr || ::sigaltstack(nullptr, &now) != 0 || now.ss_sp != memory_.get()) return;
  const stack_t none{nullptr, SS_DISABLE, 0};
  ::sigaltstack(&none, nullptr);
}

}  // namespace weft
