// SPDX-License-Identifier: Apache-2.0
// A function with a stack of its own that is left where it would wait, and gone on with later.
#pragma once

#include <cstddef>
#include <memory>
#include <weft/runtime/context.hpp>
#include <weft/runtime/stack.hpp>

namespace weft {

/// Runs one function after another on its stack. A function may be left in the middle, where it would wait: in
/// event::wait, in scheduler::yield, and wherever else `leave` is called. Whoever resumes it says whether it is. Any
/// thread may resume it, or a fiber, one at a time, each seeing what the one before has done; so between two waits the
/// function keeps no address of a thread-local.
///
/// Where it may wait, it waits as whoever resumes it would: a fiber parks, and the coroutine belongs to that fiber
/// until `resume` returns.
class coroutine {
 public:
  enum class at_waits : bool { wait, leave };

  /// Throws what `stack` throws.
  explicit coroutine(std::size_t stack_size, std::shared_ptr<memory_budget> memory = nullptr);
  coroutine(const coroutine&) = delete;
  coroutine& operator=(const coroutine&) = delete;
  /// Not in the middle of a function.
  ~coroutine() = default;

  /// The next `resume` begins this, which must not throw. Not in the middle of another.
  void begin(void (*function)(void*), void* argument) noexcept {
    function_ = function;
    argument_ = argument;
  }
  /// Goes on with it. Whether it has ended, as it has where it may wait.
  bool resume(at_waits what) noexcept;

  /// Where it is to be found by whoever looks into this process from outside, while its threads are stopped.
  struct whereabouts {
    const std::byte* bottom = nullptr;  ///< of its stack
    const std::byte* top = nullptr;
    const void* resumed_by = nullptr;  ///< a pointer to the context that has resumed it last
  };
  /// Any thread.
  whereabouts where() const noexcept { return {memory_.bottom(), memory_.top(), &home_}; }

  /// Whether the calling function is left where it would wait.
  static bool leaves() noexcept;
  /// Leaves the calling function, where that is so: true once it has been resumed. Else false.
  static bool leave() noexcept;

 private:
  static void main(void* self) noexcept;

  stack memory_;
  context own_;
  context* home_ = nullptr;  // of whoever has resumed it
  void (*function_)(void*) = nullptr;
  void* argument_ = nullptr;
  bool ended_ = false;
};

}  // namespace weft
