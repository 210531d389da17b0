// SPDX-License-Identifier: Apache-2.0
// Which interfaces a host may be reached by, and which of them is taken.
#include <algorithm>
#include <weft/fabric/interfaces.hpp>
#include <weft/runtime/error.hpp>

#include "catch.hpp"
#include "fabric/ofi/subnet.hpp"

using namespace weft::fabric;
using weft_test::ContainsSubstring;

namespace {

const network_interface bridge{"docker0", "172.17.0.1", 16};

interface_owner on(const std::string& host, std::vector<network_interface> interfaces) {
  return {host, host, std::move(interfaces)};
}

/// The address of each process, in order.
std::vector<std::string> chosen(const std::vector<interface_owner>& all) {
  std::vector<std::string> addresses;
  for (const interface_choice& each : choose_interfaces(all)) {
    CHECK_FALSE(each.reason.empty());
    addresses.push_back(each.is.address);
  }
  return addresses;
}

using addresses = std::vector<std::string>;

}  // namespace

TEST_CASE("addresses that begin alike are of one subnet") {
  CHECK(parse_subnet("10.7.0.0/16")->holds("10.7.255.1"));
  CHECK_FALSE(parse_subnet("10.7.0.0/16")->holds("10.8.0.1"));
  CHECK(parse_subnet("10.7.9.128/25")->holds("10.7.9.129"));
  CHECK_FALSE(parse_subnet("10.7.9.128/25")->holds("10.7.9.1"));
  CHECK(parse_subnet("0.0.0.0/0")->holds("192.0.2.1"));
  CHECK_FALSE(parse_subnet("0.0.0.0/0")->holds("::1"));
  CHECK(parse_subnet("fd00:7::/64")->holds("fd00:7::1"));
  CHECK_FALSE(parse_subnet("fd00:7::/64")->holds("fd00:8::1"));
  for (const char* bad : {"", "/", "10.7.0.0", "10.7.0.0/", "10.7.0.0/33", "10.7.0.0/-1", "10.7/16", "eth0/16",
                          "::/129", "10.7.0.0/16x"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_subnet(bad));
  }
}

TEST_CASE("an address that every host has is not taken, whatever comes first") {
  const std::vector<interface_owner> hosts{on("a", {bridge, {"eth0", "10.7.0.1", 24}}),
                                           on("b", {bridge, {"eth0", "10.7.0.2", 24}}),
                                           on("c", {{"eth0", "10.7.0.3", 24}, bridge})};
  CHECK(chosen(hosts) == addresses{"10.7.0.1", "10.7.0.2", "10.7.0.3"});
}

TEST_CASE("processes of one host have its addresses together") {
  const network_interface a{"eth0", "10.7.0.1", 24}, b{"eth0", "10.7.0.2", 24};
  CHECK(chosen({on("a", {bridge, a}), on("a", {bridge, a}), on("b", {bridge, b}), on("b", {bridge, b})}) ==
        addresses{"10.7.0.1", "10.7.0.1", "10.7.0.2", "10.7.0.2"});
}

TEST_CASE("the subnet that the most others are in is taken, then the default route") {
  const network_interface wide{"eth0", "192.0.2.1", 24, true};
  CHECK(chosen({on("a", {wide, {"ib0", "10.7.0.1", 24}}), on("b", {{"ib0", "10.7.0.2", 24}})}) ==
        addresses{"10.7.0.1", "10.7.0.2"});
  const auto two = [](const std::string& end) {
    return std::vector<network_interface>{{"bridge", "172.17.0." + end, 16}, {"eth0", "10.7.0." + end, 24, true}};
  };
  CHECK(chosen({on("a", two("1")), on("b", two("2"))}) == addresses{"10.7.0.1", "10.7.0.2"});
}

TEST_CASE("two clusters with a router between them, and hosts that are alone in their subnet") {
  CHECK(chosen({on("a", {bridge, {"eth0", "10.7.0.1", 24}}), on("b", {bridge, {"eth0", "10.7.0.2", 24}}),
                on("c", {bridge, {"eth0", "10.8.0.1", 24}}), on("d", {bridge, {"eth0", "10.8.0.2", 24}})}) ==
        addresses{"10.7.0.1", "10.7.0.2", "10.8.0.1", "10.8.0.2"});
  CHECK(chosen({on("a", {{"lan", "192.0.2.9", 32}, {"eth0", "10.0.0.1", 32, true}}),
                on("b", {{"eth0", "10.0.0.2", 32, true}})}) == addresses{"10.0.0.1", "10.0.0.2"});
}

TEST_CASE("all are reached by addresses of one kind") {
  const network_interface v6a{"eth0", "fd00:7::1", 64}, v6b{"eth0", "fd00:7::2", 64};
  CHECK(chosen({on("a", {v6a, {"eth0", "10.7.0.1", 24}}), on("b", {v6b, {"eth0", "10.7.0.2", 24}})}) ==
        addresses{"10.7.0.1", "10.7.0.2"});
  CHECK(chosen({on("a", {{"eth0", "10.7.0.1", 24}, v6a}), on("b", {v6b})}) == addresses{"fd00:7::1", "fd00:7::2"});
}

TEST_CASE("links are on the interfaces of the subnets that all hosts are in") {
  const auto names = [](const std::vector<interface_owner>& all, int endpoints) {
    std::vector<std::string> found;
    for (const auto& links : choose_links(all, endpoints)) {
      std::string& its = found.emplace_back();
      for (const network_interface& each : links) its += each.name + " ";
    }
    return found;
  };
  const auto host = [](const std::string& end, std::vector<network_interface> more) {
    std::vector<network_interface> all{bridge, {"eth0", "10.7.0." + end, 24, true, 10'000}};
    all.insert(all.end(), more.begin(), more.end());
    return on("host " + end, all);
  };
  using strings = std::vector<std::string>;
  const std::vector<interface_owner> two{
      host("1", {{"ib0", "10.8.0.1", 24}, {"alone", "10.9.0.1", 24}, {"ib1", "10.10.0.1", 24}}),
      host("2", {{"ib1", "10.10.0.2", 24}, {"ib0", "10.8.0.2", 24}})};
  CHECK(names(two, 0) == strings{"eth0 ib0 ib1 ", "eth0 ib0 ib1 "});
  CHECK(names(two, 1) == strings{"eth0 ", "eth0 "});
  CHECK(names(two, 4) == strings{"eth0 ib0 ib1 eth0 ", "eth0 ib0 ib1 eth0 "});
  // Two of one subnet; one with addresses of two subnets is one link.
  CHECK(names({host("1", {{"eth1", "10.7.0.11", 24}}), host("2", {{"eth1", "10.7.0.12", 24}})}, 0) ==
        strings{"eth0 eth1 ", "eth0 eth1 "});
  CHECK(names({host("1", {{"eth0", "10.8.0.1", 24}}), host("2", {{"eth1", "10.8.0.2", 24}})}, 0) ==
        strings{"eth0 ", "eth0 "});
  // One that is slow would hold the other up.
  CHECK(
      names({host("1", {{"slow", "10.8.0.1", 24, false, 1'000}}), host("2", {{"slow", "10.8.0.2", 24, false, 1'000}})},
            0) == strings{"eth0 ", "eth0 "});
  // Between clusters a router leads, of which nothing is known by the other interfaces.
  CHECK(names({on("a", {{"eth0", "10.7.0.1", 24}, {"ib0", "10.9.0.1", 24}}), on("b", {{"eth0", "10.7.0.2", 24}}),
               on("c", {{"eth0", "10.8.0.1", 24}}), on("d", {{"eth0", "10.8.0.2", 24}})},
              0) == strings{"eth0 ", "eth0 ", "eth0 ", "eth0 "});
}

TEST_CASE("a host that cannot be reached is named, with what it has") {
  CHECK_THROWS_WITH(choose_interfaces({on("a", {bridge}), on("b", {bridge, {"eth0", "10.7.0.2", 24}})}),
                    ContainsSubstring("host a ") && ContainsSubstring("docker0 172.17.0.1/16") &&
                        ContainsSubstring("WEFT_INTERFACE"));
  CHECK_THROWS_WITH(choose_interfaces({on("a", {{"eth0", "10.7.0.1", 24}}), on("b", {})}),
                    ContainsSubstring("host b ") && ContainsSubstring("none at all"));
}

TEST_CASE("this host's interfaces are those that are wanted") {
  const auto all = list_interfaces("");
  const auto lo = std::ranges::find(all, "127.0.0.1", [](const auto& each) { return each.is.address; });
  REQUIRE(lo != all.end());
  CHECK(lo->is.prefix == 8);
  CHECK_THAT(lo->rejected, ContainsSubstring("this host alone"));
  for (const std::string& wanted : {lo->is.name, std::string("127.0.0.0/8"), lo->is.name + ",none0"}) {
    CAPTURE(wanted);
    const auto usable = usable_interfaces(wanted, "");
    CHECK(std::ranges::any_of(usable, [](const auto& each) { return each.address == "127.0.0.1"; }));
    CHECK(std::ranges::all_of(usable, [&](const auto& each) { return each.name == lo->is.name; }));
  }
}

TEST_CASE("interfaces that are not there are refused with those that are") {
  const std::string lo = list_interfaces("127.0.0.0/8").front().is.name;
  for (const std::string& wanted : {std::string("none0"), std::string("203.0.113.0/24"), "^" + lo + "," + lo}) {
    CAPTURE(wanted);
    CHECK_THROWS_WITH(usable_interfaces(wanted, ""),
                      ContainsSubstring("WEFT_INTERFACE=" + wanted) && ContainsSubstring(lo + " 127.0.0.1/8"));
  }
  CHECK(usable_interfaces("", "127.0.0.1") == usable_interfaces(lo, "127.0.0.1"));
  CHECK_THROWS_WITH(usable_interfaces("", "192.0.2.1"), ContainsSubstring("\"192.0.2.1\""));
  for (const std::string wanted : {",", "^", "eth0,", "10.7.0.0/99", "10.7/16", "eth0 eth1", "^^lo"}) {
    CAPTURE(wanted);
    CHECK_THROWS_WITH(list_interfaces(wanted), ContainsSubstring("WEFT_INTERFACE=" + wanted));
  }
}
