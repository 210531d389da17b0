// SPDX-License-Identifier: Apache-2.0
// Threads of weft's own.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <memory>
#include <utility>

namespace weft {

/// As std::thread, but that its stack is never shorter than `least_stack`, however short those of threads are by
/// default (as `ulimit -s` says), and that an error says what could not be started and why.
class thread {
 public:
  static constexpr std::size_t least_stack = std::size_t{1} << 20;

  thread() noexcept = default;
  /// Runs `function` in a thread that debuggers show as `name`: at most 15 characters. Throws a system error.
  template <class Function>
  thread(const char* name, Function function) {
    start(name, std::make_unique<task_of<Function>>(std::move(function)));
  }
  thread(thread&& other) noexcept : id_(other.id_), joinable_(std::exchange(other.joinable_, false)) {}
  thread& operator=(thread&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(joinable_, other.joinable_);
    return *this;
  }
  ~thread() { join(); }

  bool joinable() const noexcept { return joinable_; }
  /// Blocks until it has ended; at once where there is none.
  void join() noexcept;
  /// It goes on, and nobody waits for it.
  void detach() noexcept;

 private:
  struct task {
    virtual ~task() = default;
    virtual void run() = 0;
  };
  template <class Function>
  struct task_of final : task {
    explicit task_of(Function its) : function(std::move(its)) {}
    void run() override { function(); }
    Function function;
  };

  static void* main(void* its) noexcept;
  void start(const char* name, std::unique_ptr<task> what);

  pthread_t id_{};
  bool joinable_ = false;
};

}  // namespace weft
