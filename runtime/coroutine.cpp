// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <weft/runtime/coroutine.hpp>

namespace weft {

namespace {
/// That runs on this thread.
[[gnu::tls_model("initial-exec")]] constinit thread_local coroutine* left_at_waits = nullptr;
}  // namespace

coroutine::coroutine(std::size_t stack_size, std::shared_ptr<memory_budget> memory)
    : memory_(stack_size, std::move(memory)), own_(memory_.bottom(), memory_.top(), &coroutine::main, this) {}

bool coroutine::resume(at_waits what) noexcept {
  context home;
  home_ = &home;
  ended_ = false;
  coroutine* const before = std::exchange(left_at_waits, what == at_waits::leave ? this : nullptr);
  home.switch_to(own_);
  left_at_waits = before;
  return ended_;
}

// Not inlined, both: behind a wait it may be another thread's.
[[gnu::noinline]] bool coroutine::leaves() noexcept { return left_at_waits != nullptr; }

[[gnu::noinline]] bool coroutine::leave() noexcept {
  coroutine* const mine = left_at_waits;
  if (mine == nullptr) return false;
  mine->own_.switch_to(*mine->home_);
  return true;
}

void coroutine::main(void* self) noexcept {
  coroutine& mine = *static_cast<coroutine*>(self);
  while (true) {
    mine.function_(mine.argument_);
    mine.ended_ = true;
    mine.own_.switch_to(*mine.home_);
  }
}

}  // namespace weft
