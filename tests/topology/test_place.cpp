// SPDX-License-Identifier: Apache-2.0
#include <weft/runtime/error.hpp>
#include <weft/topology/placement.hpp>

#include "catch.hpp"

using namespace weft::topology;
using weft_test::ContainsSubstring;

namespace {

std::vector<std::string> lists(const placement& p) {
  std::vector<std::string> result;
  for (const cpu_set& cpus : p.cpus) result.push_back(to_string(cpus));
  return result;
}

using list = std::vector<std::string>;

// Cores 0-5 (cpus 0-11) in NUMA node 0, cores 6-11 (cpus 12-23) in node 1, two hardware threads each.
machine two_nodes_of_six() { return load_synthetic("numa:2 l3:1 core:6 pu:2"); }

}  // namespace

TEST_CASE("compact order fills cores one after the other") {
  const placement p = place(two_nodes_of_six(), 3, binding::core);
  CHECK(lists(p) == list{"0-1", "2-3", "4-5"});
  CHECK_FALSE(p.oversubscribed);
}

TEST_CASE("spread order divides processes among the NUMA nodes") {
  CHECK(lists(place(two_nodes_of_six(), 2, binding::core, 1, order::spread)) == list{"0-1", "12-13"});
  CHECK(lists(place(two_nodes_of_six(), 5, binding::core, 1, order::spread)) ==
        list{"0-1", "4-5", "8-9", "14-15", "18-19"});
  CHECK(lists(place(two_nodes_of_six(), 2, binding::core, 4, order::spread)) == list{"0-7", "12-19"});
}

TEST_CASE("a process of several cores stays within a cache or a NUMA node while there is room") {
  CHECK(lists(place(two_nodes_of_six(), 2, binding::core, 4)) == list{"0-7", "12-19"});
  CHECK(lists(place(two_nodes_of_six(), 3, binding::core, 4)) == list{"0-7", "8-15", "16-23"});
  const machine caches = load_synthetic("numa:2 l3:2 core:3 pu:1");
  CHECK(lists(place(caches, 4, binding::core, 2)) == list{"0-1", "3-4", "6-7", "9-10"});
  CHECK(lists(place(caches, 5, binding::core, 2)) == list{"0-1", "2-3", "4-5", "6-7", "8-9"});
  CHECK(lists(place(caches, 2, binding::core, 5)) == list{"0-4", "6-10"});
}

TEST_CASE("too few cores are shared evenly, and told") {
  const machine m = load_synthetic("numa:1 core:4 pu:1");
  const placement shared = place(m, 6, binding::core);
  CHECK(shared.oversubscribed);
  CHECK(lists(shared) == list{"0", "0", "1", "2", "2", "3"});
  const placement fewer_each = place(m, 2, binding::core, 3);
  CHECK(fewer_each.oversubscribed);
  CHECK(lists(fewer_each) == list{"0-1", "2-3"});
  CHECK(lists(place(m, 1, binding::core, 9)) == list{"0-3"});
  CHECK(place(m, 5, binding::none).oversubscribed);
  CHECK_FALSE(place(m, 4, binding::none).oversubscribed);
}

TEST_CASE("binding to NUMA nodes widens to the nodes of the cores, binding to nothing to all that was given") {
  const machine m = two_nodes_of_six();
  CHECK(lists(place(m, 2, binding::numa)) == list{"0-11", "0-11"});
  CHECK(lists(place(m, 2, binding::numa, 1, order::spread)) == list{"0-11", "12-23"});
  CHECK(lists(place(m, 3, binding::numa, 4)) == list{"0-11", "0-23", "12-23"});
  CHECK(lists(place(m, 2, binding::none)) == list{"0-23", "0-23"});
}

TEST_CASE("placement stays inside the cpus that were given") {
  machine m = two_nodes_of_six();
  m.given = cpu_set::parse("3-5,12,20-23");  // cores 1 (half of it), 2, 6 (half), 10, 11
  CHECK(lists(place(m, 5, binding::core)) == list{"3", "4-5", "12", "20-21", "22-23"});
  CHECK(lists(place(m, 2, binding::core, 2)) == list{"3-5", "12,20-21"});
  CHECK(lists(place(m, 3, binding::numa)) == list{"3-5", "3-5", "12,20-23"});
  CHECK(lists(place(m, 2, binding::none)) == list{"3-5,12,20-23", "3-5,12,20-23"});
  CHECK(place(m, 6, binding::core).oversubscribed);
}

TEST_CASE("what cannot be placed is refused") {
  machine m = two_nodes_of_six();
  CHECK_THROWS_WITH(place(m, 0, binding::core), ContainsSubstring("placing 0 processes"));
  CHECK_THROWS_WITH(place(m, 2, binding::core, 0), ContainsSubstring("of 0 cores each"));
  m.given = {};
  CHECK_THROWS_WITH(place(m, 1, binding::none), ContainsSubstring("none was given"));
}
