// SPDX-License-Identifier: Apache-2.0
// What becomes of limits of a process: threads get a stack all the same, and errors name what was met.
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <functional>
#include <string>
#include <utility>
#include <weft/runtime/error.hpp>
#include <weft/runtime/limits.hpp>
#include <weft/runtime/loaded_library.hpp>
#include <weft/runtime/thread.hpp>

#include "catch.hpp"
#include "peak_memory.hpp"
#include "sanitized.hpp"

using weft_test::ContainsSubstring;

namespace {

/// What `text` is in a process of its own, whose limits do not matter to others.
std::string in_child(const std::function<std::string()>& text) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const std::string found = text();
    ::_exit(::write(ends[1], found.data(), found.size()) < 0 ? 1 : 0);
  }
  ::close(ends[1]);
  std::string all;
  std::array<char, 512> some{};
  for (ssize_t read = 0; (read = ::read(ends[0], some.data(), some.size())) > 0;)
    all.append(some.data(), static_cast<std::size_t>(read));
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return all;
}

void limit(__rlimit_resource which, rlim_t most) {
  const rlimit lower{most, most};
  if (::setrlimit(which, &lower) != 0) ::_exit(2);
}

std::size_t stack_of_this_thread() {
  pthread_attr_t its;
  std::size_t size = 0;
  ::pthread_getattr_np(::pthread_self(), &its);
  ::pthread_attr_getstacksize(&its, &size);
  ::pthread_attr_destroy(&its);
  return size;
}

}  // namespace

TEST_CASE("threads have room on their stacks, however short these are by default") {
  pthread_attr_t before, shorter;
  ::pthread_getattr_default_np(&before);
  ::pthread_attr_init(&shorter);
  ::pthread_attr_setstacksize(&shorter, 64 << 10);  // as by ulimit -s 64
  REQUIRE(::pthread_setattr_default_np(&shorter) == 0);
  std::size_t found = 0;
  weft::thread("weft-test", [&] { found = stack_of_this_thread(); }).join();
  ::pthread_setattr_default_np(&before);
  CHECK(found >= weft::thread::least_stack);
  std::size_t by_default = 0, usual = 0;
  ::pthread_attr_getstacksize(&before, &usual);
  weft::thread("weft-test", [&] { by_default = stack_of_this_thread(); }).join();
  CHECK(by_default >= usual);
  ::pthread_attr_destroy(&before);
  ::pthread_attr_destroy(&shorter);
}

TEST_CASE("a thread is joined where it is not left to itself, and moved") {
  bool ran = false;
  {
    weft::thread one("weft-test", [&] { ran = true; });
    weft::thread other;
    CHECK_FALSE(other.joinable());
    other = std::move(one);
    CHECK(other.joinable());
    CHECK_FALSE(one.joinable());
  }
  CHECK(ran);
}

TEST_CASE("where no more threads are allowed it is said which could not be started, and what allows no more") {
  const std::string text = in_child([]() -> std::string {
    limit(RLIMIT_NPROC, 1);
    if (::geteuid() == 0 && ::setuid(54'321) != 0) return "";  // whom the limit does not hold for
    try {
      weft::thread("weft-test", [] {}).join();
      return "no error";
    } catch (const weft::error& failed) {
      return failed.what();
    }
  });
  if (text.empty()) {
    WARN("skipped: this root may not become another user");
  } else {
    CHECK_THAT(text, ContainsSubstring("starting the thread weft-test: pthread_create: "));
    CHECK_THAT(text, ContainsSubstring("(errno 11); RLIMIT_NPROC lets this user have 1 "));
    CHECK_THAT(text, ContainsSubstring("(ulimit -u)"));
  }
}

TEST_CASE("a library that there are no addresses for is not said to be missing") {
  if (weft_test::slowed) {
    WARN("skipped: a sanitizer takes addresses of its own, and an emulator limits none");
    return;
  }
  const std::string text = in_child([]() -> std::string {
    limit(RLIMIT_AS, weft_test::memory_of_status("VmSize") + (256 << 10));
    try {
      const weft::loaded_library library("libfabric.so.1", std::make_error_code(std::errc::io_error), "install it");
      return "no error";
    } catch (const weft::error& failed) {
      return failed.what();
    }
  });
  CHECK_THAT(text, ContainsSubstring("libfabric.so.1 cannot be used: "));
  CHECK_THAT(text, ContainsSubstring("raise it (ulimit -v)"));
}

TEST_CASE("errors of the system say how large the limit is that they have met") {
  const auto behind = [](__rlimit_resource which, rlim_t most, int number, const char* call) {
    return in_child([&] {
      limit(which, most);
      return weft::limit_behind(number, call);
    });
  };
  constexpr rlim_t many = rlim_t{1} << 50;  // more than sanitizers need
  if (!weft_test::emulated) {               // where addresses are the emulator's
    CHECK_THAT(behind(RLIMIT_AS, many, ENOMEM, "mmap"),
               ContainsSubstring("; RLIMIT_AS lets this process have " + std::to_string(many >> 10) + " KiB"));
    CHECK_THAT(behind(RLIMIT_AS, many, ENOMEM, "mmap"), ContainsSubstring("(ulimit -v)"));
  }
  CHECK_THAT(behind(RLIMIT_NPROC, 77, EAGAIN, "fork"), ContainsSubstring("RLIMIT_NPROC lets this user have 77 "));
  CHECK_THAT(behind(RLIMIT_NOFILE, 66, EMFILE, "socket"), ContainsSubstring("have 66 open files"));
  CHECK(behind(RLIMIT_NPROC, 77, EAGAIN, "recv").empty());
  CHECK(weft::limit_behind(ENOENT, "open").empty());
}
