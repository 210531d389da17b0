// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <weft/runtime/error.hpp>
#include <weft/runtime/event.hpp>
#include <weft/runtime/scheduler.hpp>

#include "catch.hpp"

namespace {

/// Lets other fibers run while it is being destroyed.
struct yields_when_destroyed {
  int* unwinding_seen;
  ~yields_when_destroyed() {
    for (int i = 0; i < 10; ++i) {
      *unwinding_seen += std::uncaught_exceptions();
      weft::scheduler::yield();
    }
  }
};

/// Throws, parks in the middle of the unwinding and again in the handler; the text of what it caught in the end.
std::string throw_and_park(const std::string& name, int* unwinding_seen) {
  try {
    yields_when_destroyed parked{unwinding_seen};
    throw std::runtime_error(name);
  } catch (const std::runtime_error&) {
    for (int i = 0; i < 10; ++i) {
      weft::scheduler::yield();
      try {
        yields_when_destroyed parked{unwinding_seen};
        std::rethrow_exception(std::current_exception());
      } catch (const std::runtime_error& inner) {
        weft::scheduler::yield();
        if (inner.what() != name) return "another fiber's exception: " + std::string(inner.what());
      }
    }
    try {
      throw;
    } catch (const std::runtime_error& again) {
      return again.what();
    }
  }
  return "nothing was caught";
}

std::size_t page_size() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

const char* fiber_frame = nullptr;

/// Ends the process with 42 when the fault lies just below the fiber's stack, in the upper half of the guard page.
void judge_fault(int, siginfo_t* fault, void*) {
  const auto depth = fiber_frame - static_cast<const char*>(fault->si_addr);
  const auto size = static_cast<std::ptrdiff_t>(weft::stack::default_size);
  const auto page = static_cast<std::ptrdiff_t>(page_size());
  _exit(depth > size - page / 2 && depth <= size + page / 2 ? 42 : 43);
}

__attribute__((noinline)) int recurse(int depth) {
  volatile char frame[512];
  std::memset(const_cast<char*>(frame), depth, sizeof frame);
  if (depth == std::numeric_limits<int>::max()) return frame[0];
  return recurse(depth + 1) + frame[depth % 512];
}

[[noreturn]] void overflow_a_fiber() {
  static char signal_stack[1 << 16];
  stack_t alternative{};
  alternative.ss_sp = signal_stack;
  alternative.ss_size = sizeof signal_stack;
  sigaltstack(&alternative, nullptr);
  struct sigaction action {};
  action.sa_sigaction = judge_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGSEGV, &action, nullptr);
  weft::scheduler fibers;
  fibers.spawn([] {
    fiber_frame = static_cast<const char*>(__builtin_frame_address(0));
    _exit(recurse(0) == 0 ? 44 : 45);
  });
  fibers.run();
  _exit(46);
}

}  // namespace

TEST_CASE("fibers park while unwinding and in handlers, each with its own exceptions") {
  constexpr int count = 20;
  weft::scheduler fibers;
  std::string caught[count];
  int unwinding_seen[count] = {};
  for (int i = 0; i < count; ++i) {
    fibers.spawn([&, i] { caught[i] = throw_and_park("fiber " + std::to_string(i), &unwinding_seen[i]); });
  }
  int calm = 0;
  fibers.spawn([&] {
    for (int i = 0; i < 200; ++i) {
      calm += std::uncaught_exceptions() == 0 && std::current_exception() == nullptr;
      weft::scheduler::yield();
    }
  });
  fibers.run();
  REQUIRE(calm == 200);
  for (int i = 0; i < count; ++i) {
    REQUIRE(caught[i] == "fiber " + std::to_string(i));
    REQUIRE(unwinding_seen[i] == 110);  // 11 destructors, 10 looks each, one exception in flight
  }
}

TEST_CASE("run within a handler: the caller's exception survives") {
  try {
    throw std::runtime_error("outer");
  } catch (const std::runtime_error& outer) {
    weft::scheduler fibers;
    std::string inside = "nothing";
    int unwinding_seen = 0;
    fibers.spawn(
        [&] { inside = std::current_exception() == nullptr ? throw_and_park("inner", &unwinding_seen) : "leaked"; });
    fibers.run();
    REQUIRE(inside == "inner");
    REQUIRE(std::string(outer.what()) == "outer");
    REQUIRE_THROWS_WITH(std::rethrow_exception(std::current_exception()), "outer");
  }
}

TEST_CASE("a recursion without end stops at the guard page") {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) overflow_a_fiber();
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  REQUIRE(WEXITSTATUS(status) == 42);
}

TEST_CASE("a stack has whole pages and one owner") {
  weft::stack made(10 * page_size() - 1);
  REQUIRE(made.size() == 10 * page_size());
  REQUIRE(made.top() - made.bottom() == static_cast<std::ptrdiff_t>(made.size()));
  std::memset(made.bottom(), 1, made.size());
  std::byte* const bottom = made.bottom();
  weft::stack moved = std::move(made);
  REQUIRE(moved.bottom() == bottom);
  REQUIRE(made.bottom() == nullptr);
  made = std::move(moved);
  REQUIRE(made.bottom() == bottom);
  REQUIRE(moved.bottom() == nullptr);
}

TEST_CASE("a stack that cannot be had is an error with its size") {
  REQUIRE_THROWS_WITH(weft::stack(std::size_t{1} << 60), weft_test::ContainsSubstring("1152921504606846976 bytes"));
}

TEST_CASE("a pool hands out the stack that came back last and keeps no more than its limit") {
  weft::stack_pool pool(page_size(), 2);
  weft::stack first = pool.take(), second = pool.take(), third = pool.take();
  std::byte* const last = second.bottom();
  pool.give(std::move(first));
  pool.give(std::move(second));
  pool.give(std::move(third));
  REQUIRE(pool.free() == 2);
  REQUIRE(pool.take().bottom() == last);
  REQUIRE(pool.free() == 1);
}
