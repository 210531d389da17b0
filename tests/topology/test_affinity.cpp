// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <thread>
#include <weft/runtime/error.hpp>
#include <weft/topology/affinity.hpp>

#include "catch.hpp"

using namespace weft::topology;
using weft_test::ContainsSubstring;

TEST_CASE("a thread is bound alone, and new threads inherit it") {
  const cpu_set before = this_thread_binding();
  REQUIRE_FALSE(before.empty());
  cpu_set bound, inherited;
  std::thread([&] {
    bind_this_thread({before.last()});
    bound = this_thread_binding();
    std::thread([&] { inherited = this_thread_binding(); }).join();
  }).join();
  CHECK(bound == cpu_set{before.last()});
  CHECK(inherited == bound);
  CHECK(this_thread_binding() == before);
}

TEST_CASE("a binding that cannot be is an error that names the cpus and changes nothing") {
  const cpu_set before = this_thread_binding();
  CHECK_THROWS_WITH(bind_this_thread({}), ContainsSubstring("empty"));
  try {
    bind_this_thread({60000, 60001});
    FAIL("no machine has that many cpus");
  } catch (const weft::error& e) {
    CHECK(e.code() == std::error_code(EINVAL, std::system_category()));
    CHECK_THAT(e.what(), ContainsSubstring("60000-60001") && ContainsSubstring("sched_setaffinity"));
  }
  CHECK(this_thread_binding() == before);
}
