// SPDX-License-Identifier: Apache-2.0
// Descriptions of real machines: what is read from them, and what is chosen on them. Expected values were derived by
// hand from lstopo's drawing of each.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <weft/runtime/error.hpp>
#include <weft/topology/groups.hpp>
#include <weft/topology/placement.hpp>

#include "catch.hpp"

using namespace weft::topology;
using weft_test::ContainsSubstring;

namespace {

std::string path_of(const std::string& name) { return WEFT_MACHINES "/" + name + ".xml"; }
machine load(const std::string& name) { return load_xml(path_of(name)); }

const char* const sixteen = "16intel64-manyVFs";
const char* const altix = "192em64t-12gr2n8c2t";
const char* const twelve = "24em64t-2n6c2t-pci";
const char* const wholeio = "32em64t-2n8c2t-pci-wholeio";
const char* const epyc = "AMD-19h-Zen3-2xEpyc-7763";
const char* const cascade = "Intel-CascadeLake-2xXeon6230";

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

machine load_text(const std::string& text) {
  std::string path = "/tmp/weft-topology-XXXXXX";
  const int file = mkstemp(path.data());
  REQUIRE(file >= 0);
  close(file);
  std::ofstream(path) << text;
  try {
    machine m = load_xml(path);
    std::remove(path.c_str());
    return m;
  } catch (...) {
    std::remove(path.c_str());
    throw;
  }
}

// name@NUMA node, in the machine's order.
std::string network_of(const machine& m) {
  std::string text;
  for (const network_device& d : m.network_devices) text += d.name + "@" + std::to_string(d.numa_node) + " ";
  return text;
}

const network_device& device(const machine& m, const std::string& name) {
  const auto found = std::find_if(m.network_devices.begin(), m.network_devices.end(),
                                  [&](const network_device& d) { return d.name == name; });
  REQUIRE(found != m.network_devices.end());
  return *found;
}

// The cpus of the first processes in compact order, one core each.
cpu_set first_ranks(const machine& m, int processes) {
  cpu_set used;
  for (const cpu_set& cpus : place(m, processes, binding::core).cpus) used = used | cpus;
  return used;
}

// "CORE/CPU" chosen beside the first `processes` ranks.
std::string progress_beside(const machine& m, int processes) {
  const progress_core chosen = choose_progress_core(m, first_ranks(m, processes));
  return std::to_string(chosen.core) + "/" + to_string(chosen.cpus);
}

std::string why_beside(const machine& m, int processes) {
  return choose_progress_core(m, first_ranks(m, processes)).reason;
}

}  // namespace

TEST_CASE("the machines have the parts that their names and lstopo tell") {
  struct expected {
    const char* name;
    std::size_t numa_nodes, cores;
    int cpus;
    std::size_t last_level_caches, caches, network_devices;
  };
  for (const expected& e :
       {expected{sixteen, 2, 16, 16, 2, 2 + 2 * 16, 9}, expected{altix, 24, 192, 384, 24, 24 + 2 * 192, 8},
        expected{twelve, 2, 12, 24, 2, 2 + 2 * 12, 5}, expected{wholeio, 2, 16, 32, 2, 2 + 2 * 16, 4},
        expected{epyc, 2, 128, 128, 16, 16 + 2 * 128, 0}, expected{cascade, 1, 40, 80, 2, 2 + 2 * 40, 0}}) {
    INFO(e.name);
    const machine m = load(e.name);
    CHECK_FALSE(m.this_system);
    CHECK(m.numa_nodes.size() == e.numa_nodes);
    CHECK(m.cores.size() == e.cores);
    CHECK(m.cpus.size() == e.cpus);
    CHECK(m.given == m.cpus);
    CHECK(m.allowed == m.cpus);
    CHECK(m.caches.size() == e.caches);
    CHECK(m.network_devices.size() == e.network_devices);
    CHECK(domains(m, sharing::last_level_cache).size() == e.last_level_caches);
    CHECK(domains(m, sharing::numa_node).size() == e.numa_nodes);
    CHECK(std::all_of(m.cores.begin(), m.cores.end(), [&](const core& c) {
      return c.cpus.size() * static_cast<int>(e.cores) == e.cpus && m.numa_nodes.at(c.numa_node).cpus.includes(c.cpus);
    }));
  }
}

TEST_CASE("cpus, caches, memory and distances are those of the descriptions") {
  const machine a = load(altix);
  CHECK(a.numa_nodes[0].memory == 33255329792);
  CHECK(to_string(a.numa_nodes[1].cpus) == "8-15,200-207");
  CHECK(a.numa_nodes[23].os_index == 23);
  CHECK(to_string(a.cores[191].cpus) == "191,383");
  CHECK(a.cores[191].numa_node == 23);
  CHECK(distance(a, 0, 0) == 10);
  CHECK(distance(a, 0, 1) == 50);
  CHECK(distance(a, 0, 6) == 65);
  CHECK(distance(a, 0, 10) == 79);
  CHECK(nearest_numa_nodes(a, 0) ==
        std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 16, 17, 10, 11, 14, 15, 18, 19, 20, 21, 22, 23});
  const machine t = load(twelve);
  CHECK(to_string(t.numa_nodes[0].cpus) == "0,2,4,6,8,10,12,14,16,18,20,22");
  CHECK(to_string(t.cores[1].cpus) == "2,14");
  CHECK(to_string(t.cores[6].cpus) == "1,13");
  const machine e = load(epyc);
  CHECK(e.numa_nodes[0].memory == 0);
  CHECK(e.caches.back().level == 3);
  CHECK(e.caches.back().size == 32 << 20);
  CHECK(to_string(e.caches.back().cpus) == "120-127");
  const machine c = load(cascade);
  CHECK(to_string(c.cores[20].cpus) == "1,41");
  CHECK(to_string(last_level_cache(c, 39)->cpus).rfind("1,3,5,7", 0) == 0);
}

TEST_CASE("network devices are near the NUMA node that lstopo draws them at") {
  const machine s = load(sixteen);
  CHECK(network_of(s) == "eth0@0 eth1@0 eth4@0 usnic_0@0 eth5@0 usnic_1@0 eth6@1 usnic_2@1 eth7@1 ");
  CHECK(device(s, "eth0").kind == network_kind::ethernet);
  CHECK(device(s, "usnic_2").kind == network_kind::verbs);
  CHECK(device(s, "usnic_2").pci == device(s, "eth6").pci);
  CHECK(device(s, "usnic_2").pci == "0000:88:00.0");
  CHECK(to_string(device(s, "eth7").near) == "8-15");
  const machine a = load(altix);
  CHECK(network_of(a) == "eth0@0 eth1@0 eth2@4 eth3@4 eth4@4 eth5@4 ib0@6 mlx4_0@6 ");
  CHECK(device(a, "ib0").kind == network_kind::infiniband);
  CHECK(device(a, "ib0").pci == "0003:01:00.0");
  CHECK(network_of(load(twelve)) == "eth0@0 eth1@0 eth2@0 ib0@0 mlx4_0@0 ");
  CHECK(network_of(load(wholeio)) == "eth0@1 eth1@1 ib0@1 mlx5_0@1 ");
}

TEST_CASE("a cpuset that the administrator cut is seen, and the machine stays whole") {
  std::string text = text_of(path_of(twelve));
  const std::string all = "allowed_cpuset=\"0x00ffffff\"";
  const std::size_t at = text.find(all);
  REQUIRE(at != std::string::npos);
  text.replace(at, all.size(), "allowed_cpuset=\"0x0000400f\"");
  const machine m = load_text(text);
  CHECK(m.cores.size() == 12);
  CHECK(m.cpus.size() == 24);
  CHECK(to_string(m.allowed) == "0-3,14");
  CHECK(to_string(m.given) == "0-3,14");
  const placement p = place(m, 4, binding::core);
  CHECK(p.cpus == std::vector<cpu_set>{{0}, {2, 14}, {1}, {3}});
  CHECK_FALSE(p.oversubscribed);
}

// hwloc's own XML parser, in use where libxml2's is not installed, leaks what it had read of a file that it then
// refuses.
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
using hwloc_may_leak = __lsan::ScopedDisabler;
#else
struct [[maybe_unused]] hwloc_may_leak {};
#endif

TEST_CASE("a description that ends too early is refused wherever it ends") {
  const std::string text = text_of(path_of(twelve));
  [[maybe_unused]] const hwloc_may_leak until_the_end;
  for (std::size_t part = 1; part < 25; ++part) {
    INFO("part " << part << " of 25");
    CHECK_THROWS_AS(load_text(text.substr(0, text.size() * part / 25)), weft::error);
  }
}

TEST_CASE("one to two more processes than cores are placed on every machine") {
  for (const char* name : {sixteen, altix, twelve, wholeio, epyc, cascade}) {
    const machine m = load(name);
    const int cores = static_cast<int>(m.cores.size());
    for (const order in : {order::compact, order::spread}) {
      for (int processes = 1; processes <= cores + 2; ++processes) {
        INFO(name << ", " << processes << " processes, " << (in == order::spread ? "spread" : "compact"));
        const placement p = place(m, processes, binding::core, 1, in);
        REQUIRE(p.cpus.size() == static_cast<std::size_t>(processes));
        REQUIRE(p.oversubscribed == (processes > cores));
        std::vector<int> load(cores);
        std::map<int, int> load_of_node;
        for (const cpu_set& cpus : p.cpus) {
          const std::vector<int> own = cores_within(m, cpus);
          REQUIRE(own.size() == 1);
          REQUIRE(cpus == m.cores[own[0]].cpus);
          ++load[own[0]];
          ++load_of_node[m.cores[own[0]].numa_node];
        }
        REQUIRE(*std::max_element(load.begin(), load.end()) == (processes > cores ? 2 : 1));
        REQUIRE(*std::min_element(load.begin(), load.end()) >= (processes >= cores ? 1 : 0));
        if (in == order::spread) {
          const int nodes = static_cast<int>(m.numa_nodes.size());
          REQUIRE(static_cast<int>(load_of_node.size()) == std::min(processes, nodes));
          for (const auto& [node, count] : load_of_node) REQUIRE(count <= processes / nodes + 1);
        }
      }
    }
  }
}

TEST_CASE("several cores a process and spreading follow caches and NUMA nodes") {
  const machine e = load(epyc);
  std::string text;
  for (const cpu_set& cpus : place(e, 6, binding::core, 3).cpus) text += to_string(cpus) + " ";
  CHECK(text == "0-2 3-5 8-10 11-13 16-18 19-21 ");
  CHECK(place(e, 16, binding::core, 1, order::spread).cpus[3] == cpu_set{24});
  CHECK(place(e, 2, binding::numa, 64).cpus[1] == cpu_set::parse("64-127"));
  const machine c = load(cascade);
  CHECK(place(c, 2, binding::core, 1, order::spread).cpus == std::vector<cpu_set>{{0, 40}, {1, 41}});
  CHECK(place(c, 2, binding::core, 12).cpus[1].first() == 1);  // the second package: the first has 8 cores left
}

TEST_CASE("progress threads go where lstopo's drawing says they should") {
  const machine s = load(sixteen);
  CHECK(progress_beside(s, 4) == "4/4");
  CHECK(why_beside(s, 4) ==
        "core 4 (cpu 4): outside the cores of the ranks, shares L3 with them, nearest to NIC usnic_0");
  CHECK(progress_beside(s, 8) == "8/8");
  CHECK_THAT(why_beside(s, 8), ContainsSubstring("NUMA node 1 at distance 20") && ContainsSubstring("NIC usnic_2"));
  CHECK(progress_beside(s, 16) == "-1/");

  const machine a = load(altix);
  CHECK(progress_beside(a, 3) == "3/3");
  CHECK(progress_beside(a, 8) == "8/8");     // node 1, the other half of the board, at 50
  CHECK(progress_beside(a, 16) == "48/48");  // of the nodes at 65 the one with the InfiniBand port
  CHECK_THAT(why_beside(a, 16), ContainsSubstring("NUMA node 6 at distance 65") && ContainsSubstring("NIC ib0"));
  CHECK(progress_beside(a, 191) == "191/191");
  CHECK(progress_beside(a, 192) == "-1/");

  const machine t = load(twelve);
  CHECK(progress_beside(t, 3) == "3/6");
  CHECK(progress_beside(t, 6) == "6/1");
  CHECK_THAT(why_beside(t, 6), ContainsSubstring("far from NIC ib0"));
  CHECK(progress_beside(t, 12) == "-1/");
  CHECK(choose_progress_core(t, {1, 13}).core == 7);  // beside the rank, not at the device of the other node

  const machine w = load(wholeio);
  CHECK(progress_beside(w, 4) == "4/4");
  CHECK_THAT(why_beside(w, 4), ContainsSubstring("far from NIC ib0"));
  CHECK(progress_beside(w, 8) == "8/8");
  CHECK_THAT(why_beside(w, 8), ContainsSubstring("nearest to NIC ib0"));

  const machine e = load(epyc);
  CHECK(progress_beside(e, 8) == "8/8");
  CHECK_THAT(why_beside(e, 8), ContainsSubstring("in their NUMA node but not behind their cache"));
  CHECK(progress_beside(e, 12) == "12/12");
  CHECK_THAT(why_beside(e, 12), ContainsSubstring("shares L3"));
  CHECK(progress_beside(e, 64) == "64/64");

  const machine c = load(cascade);
  CHECK(progress_beside(c, 2) == "2/4");
  CHECK(progress_beside(c, 20) == "20/1");  // the other package, though in the same (only) NUMA node
  const auto two = choose_progress_cores(c, place(c, 2, binding::core, 1, order::spread).cpus);
  CHECK(two[0].core == 1);
  CHECK(two[1].core == 21);
}

TEST_CASE("progress threads keep to a restricted cpuset") {
  machine w = load(wholeio);
  w.given = cpu_set::parse("0,16,8-9,24-25");  // cores 0, 8 and 9
  CHECK(progress_beside(w, 1) == "8/8");
  CHECK(progress_beside(w, 2) == "9/9");
  CHECK(progress_beside(w, 3) == "-1/");
  w.given = cpu_set::parse("0-7,16-23");
  CHECK(choose_progress_core(w, cpu_set::parse("0-7")).cpus ==
        cpu_set{17});  // every core has a rank: not that of cpu 0
  w.given = cpu_set::parse("0-7");
  CHECK(choose_progress_core(w, cpu_set::parse("0-7")).core == -1);
}
