// SPDX-License-Identifier: Apache-2.0
#include <random>
#include <weft/runtime/error.hpp>
#include <weft/topology/host_list.hpp>
#include <weft/topology/network.hpp>

#include "catch.hpp"
#include "seed.hpp"

using namespace weft::topology;
using names = std::vector<std::string>;
using weft_test::ContainsSubstring;

namespace {

names machine_names(const network& of) {
  names all;
  for (const network_machine& one : of.machines) all.push_back(one.name);
  return all;
}

/// What parse_network says of a text that it refuses.
std::string refusal(const std::string& text) {
  try {
    parse_network(text);
  } catch (const weft::error& refused) {
    CHECK(refused.code() == weft::errc::invalid_argument);
    return refused.what();
  }
  return "accepted";
}

std::string list_refusal(const std::string& text) {
  try {
    expand_host_list(text);
  } catch (const weft::error& refused) {
    CHECK(refused.code() == weft::errc::invalid_argument);
    return refused.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("host lists are expanded") {
  CHECK(expand_host_list("node[1-4,7,010-012]") ==
        names{"node1", "node2", "node3", "node4", "node7", "node010", "node011", "node012"});
  CHECK(expand_host_list("login,n[08-11]") == names{"login", "n08", "n09", "n10", "n11"});
  CHECK(expand_host_list("r[0-1]n[1-2]x,a") == names{"r0n1x", "r0n2x", "r1n1x", "r1n2x", "a"});
  CHECK(expand_host_list("x[99-101]") == names{"x99", "x100", "x101"});
  CHECK(expand_host_list("[1-2]") == names{"1", "2"});
  CHECK(expand_host_list("a,a") == names{"a", "a"});
}

TEST_CASE("bad host lists are refused") {
  CHECK_THAT(list_refusal("n[1-"), ContainsSubstring("not closed"));
  CHECK_THAT(list_refusal("n[1[2]]"), ContainsSubstring("not closed"));
  CHECK_THAT(list_refusal("n1]"), ContainsSubstring("not opened"));
  CHECK_THAT(list_refusal("n[]"), ContainsSubstring("missing"));
  CHECK_THAT(list_refusal("n[1,]"), ContainsSubstring("missing"));
  CHECK_THAT(list_refusal("n[a]"), ContainsSubstring("\"a\" is not a number"));
  CHECK_THAT(list_refusal("n[1-2-3]"), ContainsSubstring("is not a number"));
  CHECK_THAT(list_refusal("n[-3]"), ContainsSubstring("is not a number"));
  CHECK_THAT(list_refusal("n[4-2]"), ContainsSubstring("backwards"));
  CHECK_THAT(list_refusal("n[8-011]"), ContainsSubstring("leading zeros"));
  CHECK_THAT(list_refusal("a,,b"), ContainsSubstring("a name is missing"));
  CHECK_THAT(list_refusal(""), ContainsSubstring("a name is missing"));
  CHECK_THAT(list_refusal("n[0-99999999999]"), ContainsSubstring("more than"));
  CHECK_THAT(list_refusal("n[0-9999]m[0-9999]"), ContainsSubstring("more than"));
  CHECK_THAT(list_refusal("n[99999999999999999999]"), ContainsSubstring("18 digits"));
}

TEST_CASE("a short list does not stand for long names in great number") {
  const std::string longest(254, 'a');
  CHECK(expand_host_list(longest + "[1-2]") == names{longest + "1", longest + "2"});
  CHECK_THAT(list_refusal("b," + longest + "aa[1-1000000]"), ContainsSubstring("more than 255 characters"));
  std::string brackets = "n";
  for (int i = 0; i < 300; ++i) brackets += "[1]";
  CHECK_THAT(list_refusal(brackets), ContainsSubstring("more than 255 characters"));
}

TEST_CASE("a network is read") {
  const network read = parse_network(
      "# two leaves\n"
      "SwitchName=s0 Nodes=node[1-2]\r\n"
      "\tswitchname = s1   NODES=node3,\\\n"
      "node4 LinkSpeed=100   # the second\n"
      "\n"
      "SwitchName=\"s2\" Switches=s[0-1] \\\n"
      "   Nodes=login");
  REQUIRE(read.switches.size() == 3);
  CHECK(machine_names(read) == names{"node1", "node2", "node3", "node4", "login"});
  CHECK(read.top == 2);
  CHECK(read.switches[2].name == "s2");
  CHECK(read.switches[2].parent == -1);
  CHECK(read.switches[2].switches == std::vector{0, 1});
  CHECK(read.switches[2].machines == std::vector{4});
  CHECK(read.switches[1].parent == 2);
  CHECK(read.switches[1].machines == std::vector{2, 3});
  CHECK(read.machines[3].at == 1);
}

TEST_CASE("one switch is a network") {
  const network read = parse_network("SwitchName=only Nodes=a");
  CHECK(read.top == 0);
  CHECK(read.machines.size() == 1);
}

TEST_CASE("what is wrong with a network is said with its line") {
  const std::string leaf = "SwitchName=s0 Nodes=n0\n";
  const auto says = [](const std::string& text, int line, const std::string& why) {
    CHECK_THAT(refusal(text), ContainsSubstring("topology.conf:" + std::to_string(line) + ": "));
    CHECK_THAT(refusal(text), ContainsSubstring(why));
  };
  says(leaf + "SwitchName=s1 Noodles=n1", 2, "\"Noodles\" is no key");
  says(leaf + "\nSwitchName=s1 Nodes=n[1-", 3, "not closed");
  says(leaf + "SwitchName=s1 Nodes=n[1-2],n0", 2, "node n0 has been named before, on line 1");
  says("SwitchName=s0 Nodes=a,a", 1, "node a has been named before, on line 1");
  says(leaf + "SwitchName=s1 Switches=s0,s7", 2, "no line defines switch s7");
  says(leaf + "SwitchName=s0 Nodes=n1", 2, "switch s0 has been defined before, on line 1");
  says(leaf + "SwitchName=s1 Nodes=n1", 2, "switch s1 is below no other, nor is s0, on line 1");
  says(leaf + "SwitchName=s1 Switches=s0\nSwitchName=s2 Switches=s0", 3, "already below switch s1, on line 2");
  says(leaf + "SwitchName=s1 Switches=s1", 2, "a loop: s1 below s1");
  says(leaf + "SwitchName=s1 Switches=s2\nSwitchName=s2 Switches=s1", 2, "a loop: s1 below s2 below s1");
  says("SwitchName=a Switches=b\nSwitchName=b Switches=c\nSwitchName=c Switches=b,d\nSwitchName=d Nodes=n", 3,
       "already below");
  says(leaf + "SwitchName=s1", 2, "neither Nodes nor Switches");
  says(leaf + "Nodes=n1", 2, "SwitchName is missing");
  says(leaf + "SwitchName=s1 Nodes=n1 nodes=n2", 2, "stands there twice");
  says(leaf + "SwitchName=s[1-2] Nodes=n1", 2, "one switch");
  says(leaf + "SwitchName s1", 2, "should be followed by =");
  says(leaf + "SwitchName=s1 Nodes=", 2, "has no value");
  says(leaf + "=s1", 2, "should be followed by =");
  says(leaf + "SwitchName=\"s1 Nodes=a", 2, "quotation mark");
  says(leaf + "SwitchName=s1 \\\nNodes=n1 \\\nWhat=1", 2, "no key");
  CHECK_THAT(refusal("# nothing\n"), ContainsSubstring("no line with a SwitchName"));
}

TEST_CASE("a network with mistakes at random is read or refused") {
  const auto seed = weft_test::test_seed();
  INFO("WEFT_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  const std::string good =
      "SwitchName=s0 Nodes=node[01-03,7]\nSwitchName=s1 \\\nNodes=\"a,b[1-2]\" # two\nSwitchName=s2 Switches=s[0-1]\n";
  const std::string characters = "[],-=#\\\"\n s019aN";
  for (int trial = 0; trial < 5000; ++trial) {
    std::string text = good;
    for (auto changes = 1 + random() % 4; changes > 0; --changes) {
      const std::size_t place = random() % text.size();
      if (random() % 2 == 0) text.erase(place, 1 + random() % 3);
      if (text.empty()) break;
      text.insert(std::min(place, text.size()), 1, characters[random() % characters.size()]);
    }
    CAPTURE(text);
    try {
      const network read = parse_network(text);
      REQUIRE(read.top >= 0);
      REQUIRE(read.switches[static_cast<std::size_t>(read.top)].parent == -1);
    } catch (const weft::error& refused) {
      REQUIRE(refused.code() == weft::errc::invalid_argument);
    }
  }
}

TEST_CASE("ranks are on the machines of their hosts") {
  const network of = parse_network("SwitchName=s Nodes=node[1-3],a.b");
  CHECK(machines_of_ranks(of, names{"node2", "node2", "node1.cluster.example", "a.b"}) == std::vector{1, 1, 0, 3});
  CHECK_THROWS_WITH(machines_of_ranks(of, names{"node1", "other"}), ContainsSubstring("rank 1 is on other"));
}

TEST_CASE("a network that cannot be read is named") {
  CHECK_THROWS_WITH(load_network("/nowhere/topology.conf"), ContainsSubstring("/nowhere/topology.conf"));
  CHECK_THROWS_WITH(load_network("/"), ContainsSubstring("cannot be read"));
}
