// SPDX-License-Identifier: Apache-2.0
// Which hosts a job runs on, and who of it where.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <weft/launch/hosts.hpp>
#include <weft/runtime/error.hpp>

#include "catch.hpp"
#include "tools/agents/agent_tree.hpp"

using weft_test::ContainsSubstring;
using namespace weft::tools;

namespace {

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const weft::error& failure) {
    CHECK(failure.code() == weft::errc::invalid_argument);
    return failure.what();
  }
  return "nothing was refused";
}

/// A hostfile that is there as long as this.
struct hostfile {
  explicit hostfile(const std::string& text) { std::ofstream(path) << text; }
  ~hostfile() { std::filesystem::remove(path); }
  std::string path = std::filesystem::temp_directory_path() / ("weft-hosts-" + std::to_string(::getpid()));
};

std::string refused_file(const std::string& text) {
  const hostfile file(text);
  return refusal([&] { read_hostfile(file.path); });
}

/// "a:4 b:?".
std::string shown(const std::vector<named_host>& hosts) {
  std::string text;
  for (const named_host& host : hosts)
    text += (text.empty() ? "" : " ") + host.name + ":" + (host.ranks ? std::to_string(*host.ranks) : "?");
  return text;
}

/// "a:FIRST+PROCESSES/RANKS".
std::string shown(const std::vector<host_share>& shares) {
  std::string text;
  for (const host_share& share : shares)
    text += (text.empty() ? "" : " ") + share.name + ":" + std::to_string(share.processes.first) + "+" +
            std::to_string(share.processes.count) + "/" + std::to_string(share.ranks);
  return text;
}

}  // namespace

TEST_CASE("a list of hosts") {
  CHECK(shown(parse_hosts("a")) == "a:?");
  CHECK(shown(parse_hosts("a:4,b.example.org,[fd00::1]:2")) == "a:4 b.example.org:? fd00::1:2");
  CHECK(shown(parse_hosts("a:2,b:1,a:3")) == "a:5 b:1");
  CHECK(shown(parse_hosts("n[1-2,5]:2,m[08-10],r[0-1]n[1-2]:3")) ==
        "n1:2 n2:2 n5:2 m08:? m09:? m10:? r0n1:3 r0n2:3 r1n1:3 r1n2:3");
  CHECK(shown(parse_hosts("n[1-2]:2,[fd00::1],[fd00::2]:3,n2")) == "n1:2 n2:3 fd00::1:? fd00::2:3");
  for (const char* bad : {"n[", "n[]", "n[2-1]", "n[1-2", "n[1-2]]", "[fd00::1", "n[1-9999999]", "a,[fd00::1],,b"})
    CHECK_THAT(refusal([&] { parse_hosts(bad); }), ContainsSubstring(std::string("--hosts ") + bad));
  for (const char* bad : {"", "a,", ",a", "a:", "a:0", "a:-1", "a:x", "a:1:2", "-a", "a b", "a:9999999"})
    CHECK_THAT(refusal([&] { parse_hosts(bad); }), ContainsSubstring(std::string("--hosts ") + bad));
  CHECK_THAT(refusal([] { parse_hosts("fd00::1"); }), ContainsSubstring("in brackets"));
}

TEST_CASE("a host that is named again and again has no more ranks than a host may have") {
  CHECK(shown(parse_hosts("a:999999,a")) == "a:1000000");
  CHECK_THAT(refusal([] { parse_hosts("b,a:999999,a:2"); }), ContainsSubstring("host a has more than 1000000 ranks"));
}

TEST_CASE("a file of hosts, and where it is wrong") {
  const hostfile file("# the cluster\n\na slots=4 # fast\n  b:2\nc\n");
  CHECK(shown(read_hostfile(file.path)) == "a:4 b:2 c:?");
  const hostfile bracketed("n[1-2,4] slots=2\nm[1-2]:3\n[fd00::1] slots=4\n");
  CHECK(shown(read_hostfile(bracketed.path)) == "n1:2 n2:2 n4:2 m1:3 m2:3 fd00::1:4");
  CHECK_THAT(refused_file("a\nn[2-1]\n"), ContainsSubstring(":2: ") && ContainsSubstring("runs backwards"));
  CHECK_THAT(refused_file("a slots=4\nb slots=four\n"), ContainsSubstring(file.path + ":2: \"four\""));
  CHECK_THAT(refused_file("a\n\nb slots 4\n"), ContainsSubstring(file.path + ":3: \"slots\" is not expected"));
  CHECK_THAT(refused_file("a:4 slots=4\n"), ContainsSubstring(file.path + ":1: \"slots=4\" is not expected"));
  CHECK_THAT(refused_file("a\n:4\n"), ContainsSubstring(file.path + ":2: \":4\" does not begin with the name"));
  CHECK_THAT(refused_file("# nobody\n"), ContainsSubstring("names no host"));
  CHECK_THAT(refusal([] { read_hostfile("/no/such/file"); }), ContainsSubstring("/no/such/file: it cannot be read"));
  CHECK_THAT(refusal([] { read_hostfile("/tmp"); }), ContainsSubstring("cannot be read"));
}

TEST_CASE("hosts are filled one after another") {
  const auto hosts = parse_hosts("a:4,b:4,c");
  CHECK(shown(allot(hosts, {})) == "a:0+4/4 b:4+4/4 c:8+1/1");
  CHECK(shown(allot(hosts, {6, 0, 1})) == "a:0+4/4 b:4+2/2");
  CHECK(shown(allot(hosts, {0, 2, 1})) == "a:0+2/2 b:2+2/2 c:4+2/2");
  CHECK(shown(allot(hosts, {0, 0, 4})) == "a:0+1/4 b:1+1/4 c:2+1/1");
  CHECK(shown(allot(hosts, {7, 0, 2})) == "a:0+2/4 b:2+2/3");
  CHECK_THAT(refusal([&] { allot(hosts, {10, 0, 1}); }), ContainsSubstring("room for 9 ranks, and -n asks for 10"));
  CHECK_THAT(refusal([&] { allot(hosts, {0, 0, 3}); }), ContainsSubstring("host a has 4 ranks"));
}

TEST_CASE("every agent is started once, by one that is started before it") {
  for (const int hosts : {1, 2, 32, 33, 64, 1024, 1057, 5000}) {
    std::set<int> started;
    for (int starter = launcher_itself; starter < hosts; ++starter) {
      const host_range mine = started_by(starter, hosts);
      CHECK(mine.end - mine.begin <= agent_tree_degree);
      for (int host = mine.begin; host < mine.end; ++host) {
        CHECK(starter < host);
        CHECK(starter_of(host) == starter);
        CHECK(started.insert(host).second);
      }
    }
    CHECK(static_cast<int>(started.size()) == hosts);
  }
}
