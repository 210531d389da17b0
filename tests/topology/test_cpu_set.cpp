// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <random>
#include <set>
#include <vector>
#include <weft/runtime/error.hpp>
#include <weft/topology/cpu_set.hpp>

#include "catch.hpp"

using namespace weft::topology;
using weft_test::ContainsSubstring;

namespace {

std::set<int> plain(const cpu_set& cpus) { return {cpus.begin(), cpus.end()}; }

}  // namespace

TEST_CASE("a cpu list is read and written as Linux does") {
  CHECK(cpu_set::parse("").empty());
  CHECK(cpu_set::parse("0-3,8") == cpu_set{0, 1, 2, 3, 8});
  CHECK(cpu_set::parse("8,0-3") == cpu_set{0, 1, 2, 3, 8});
  CHECK(cpu_set::parse("5") == cpu_set{5});
  CHECK(cpu_set::parse("0-2,1-4") == cpu_set::parse("0-4"));
  CHECK(cpu_set::parse("65535").last() == 65535);
  CHECK(to_string(cpu_set{}) == "");
  CHECK(to_string(cpu_set{7}) == "7");
  CHECK(to_string(cpu_set{0, 1}) == "0-1");
  CHECK(to_string(cpu_set{8, 3, 2, 1, 0}) == "0-3,8");
  CHECK(to_string(cpu_set{0, 2, 4}) == "0,2,4");
}

TEST_CASE("a malformed cpu list is refused with the place of the fault") {
  for (const char* list :
       {"a", "1,", ",1", "1-", "-1", "1--2", "1 ,2", " 1", "1\n", "0x3", "1-2-3", "1,,2", "+1", "1;2"}) {
    INFO("list: " << list);
    CHECK_THROWS_AS(cpu_set::parse(list), weft::error);
  }
  CHECK_THROWS_WITH(cpu_set::parse("0-3,x"), ContainsSubstring("character 5") && ContainsSubstring("\"0-3,x\""));
  CHECK_THROWS_WITH(cpu_set::parse("0,9-3"), ContainsSubstring("backwards"));
  CHECK_THROWS_WITH(cpu_set::parse("0-65536"), ContainsSubstring("65535"));
  CHECK_THROWS_WITH(cpu_set::parse("99999999999999999999"), ContainsSubstring("65535"));
  CHECK_THROWS_AS(cpu_set{-1}, weft::error);
}

TEST_CASE("set operations agree with std::set") {
  const char* given = std::getenv("WEFT_TEST_SEED");
  const unsigned seed = given != nullptr ? std::strtoul(given, nullptr, 10) : std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (int trial = 0; trial < 200; ++trial) {
    cpu_set a, b;
    for (unsigned n = random() % 40; n > 0; --n) a.insert(static_cast<int>(random() % 50));
    for (unsigned n = random() % 40; n > 0; --n) b.insert(static_cast<int>(random() % 50));
    CAPTURE(to_string(a), to_string(b));
    std::set<int> either = plain(a), both, first;
    either.insert(b.begin(), b.end());
    for (int cpu : a) (b.contains(cpu) ? both : first).insert(cpu);
    CHECK(plain(a | b) == either);
    CHECK(plain(a & b) == both);
    CHECK(plain(a - b) == first);
    CHECK(a.intersects(b) == !both.empty());
    CHECK(a.includes(b) == (both == plain(b)));
    CHECK(cpu_set::parse(to_string(a)) == a);
    CHECK(a.size() == static_cast<int>(plain(a).size()));
  }
}
