// SPDX-License-Identifier: Apache-2.0
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <weft/runtime/launch.hpp>

#include "catch.hpp"

namespace {

/// The node of a process that is like this one, but has a network of its own; empty where none may be made.
std::string node_with_another_network() {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) ::_exit(1);
    const std::string node = weft::node_identity();
    ::_exit(::write(ends[1], node.data(), node.size()) < 0);
  }
  ::close(ends[1]);
  char text[256];
  const auto length = ::read(ends[0], text, sizeof text);
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return {text, static_cast<std::size_t>(std::max<ssize_t>(length, 0))};
}

}  // namespace

TEST_CASE("processes are of one node if they share the kernel and the network") {
  CHECK(weft::node_identity() == weft::node_identity());
  CHECK(weft::node_identity().size() > 36);
  const std::string elsewhere = node_with_another_network();
  if (elsewhere.empty()) {
    WARN("skipped: this user may not make a network namespace");
  } else {
    CHECK(elsewhere != weft::node_identity());
    CHECK(elsewhere.substr(0, 36) == weft::node_identity().substr(0, 36));
  }
}
