// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <weft/runtime/error.hpp>
#include <weft/topology/affinity.hpp>
#include <weft/topology/machine.hpp>

#include "catch.hpp"

using namespace weft::topology;
using weft_test::ContainsSubstring;

namespace {

// A file of its own name that goes with its scope.
class scratch_file {
 public:
  explicit scratch_file(const std::string& text) {
    const int file = mkstemp(path_.data());
    REQUIRE(file >= 0);
    close(file);
    std::ofstream(path_) << text;
  }
  ~scratch_file() { std::remove(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_ = "/tmp/weft-topology-XXXXXX";
};

}  // namespace

TEST_CASE("this machine is whole in itself") {
  const machine m = discover();
  REQUIRE_FALSE(m.cores.empty());
  REQUIRE_FALSE(m.numa_nodes.empty());
  CHECK(m.this_system);
  CHECK(m.cpus.includes(m.allowed));
  CHECK(m.given == (m.allowed & this_thread_binding()));
  cpu_set in_cores;
  for (const core& c : m.cores) {
    CHECK_FALSE(c.cpus.empty());
    CHECK_FALSE(in_cores.intersects(c.cpus));
    in_cores = in_cores | c.cpus;
  }
  CHECK(in_cores == m.cpus);
}

TEST_CASE("the processors of this machine are found without its devices") {
  const machine whole = discover(), processors = discover_processors();
  CHECK(processors.network_devices.empty());
  CHECK(processors.this_system);
  CHECK(processors.cpus == whole.cpus);
  CHECK(processors.allowed == whole.allowed);
  CHECK(processors.given == whole.given);
  CHECK(processors.numa_nodes.size() == whole.numa_nodes.size());
  REQUIRE(processors.cores.size() == whole.cores.size());
  for (std::size_t i = 0; i < whole.cores.size(); ++i) {
    CHECK(processors.cores[i].cpus == whole.cores[i].cpus);
    CHECK(processors.cores[i].numa_node == whole.cores[i].numa_node);
  }
  REQUIRE(processors.caches.size() == whole.caches.size());
  for (std::size_t i = 0; i < whole.caches.size(); ++i) {
    CHECK(processors.caches[i].level == whole.caches[i].level);
    CHECK(processors.caches[i].cpus == whole.caches[i].cpus);
  }
}

TEST_CASE("what this process was given follows the mask of the thread that asks") {
  const machine whole = discover();
  cpu_set narrow;
  std::thread([&] {
    bind_this_thread({whole.given.last()});
    narrow = discover().given;
  }).join();
  CHECK(narrow == cpu_set{whole.given.last()});
}

TEST_CASE("a synthetic machine has the parts that it is described by") {
  const machine m = load_synthetic("package:2 [numa(memory=1073741824)] l3:2(size=16777216) core:3 pu:2");
  CHECK_FALSE(m.this_system);
  CHECK(m.cores.size() == 12);
  CHECK(m.cpus.size() == 24);
  CHECK(m.given == m.cpus);
  CHECK(m.allowed == m.cpus);
  CHECK(m.network_devices.empty());
  REQUIRE(m.numa_nodes.size() == 2);
  CHECK(m.numa_nodes[0].memory == std::uint64_t{1} << 30);
  CHECK(to_string(m.numa_nodes[1].cpus) == "12-23");
  CHECK(m.cores[5].numa_node == 0);
  CHECK(m.cores[6].numa_node == 1);
  CHECK(to_string(m.cores[11].cpus) == "22-23");
  REQUIRE(m.caches.size() == 4);
  CHECK(m.caches[3].level == 3);
  CHECK(m.caches[3].size == std::uint64_t{16} << 20);
  CHECK(last_level_cache(m, 4)->cpus == cpu_set::parse("6-11"));
  CHECK(distance(m, 1, 1) == 10);
  CHECK(distance(m, 0, 1) == 20);
  CHECK(nearest_numa_nodes(m, 1) == std::vector<int>{1, 0});
  CHECK(cores_within(m, cpu_set::parse("3-5,23")) == std::vector<int>{1, 2, 11});
}

TEST_CASE("hardware threads without cores count as cores") {
  const machine m = load_synthetic("numa:2 pu:3");
  CHECK(m.cores.size() == 6);
  CHECK(m.cores[3].cpus == cpu_set{3});
  CHECK(m.cores[3].numa_node == 1);
  CHECK(last_level_cache(m, 3) == nullptr);
}

TEST_CASE("a malformed synthetic description is refused, not taken for this machine") {
  for (const char* text : {"", "nonsense", "core:0", "core:4 pu:x", "pu:2 core:2", "core:4 pu:2 junk", "core:-1"}) {
    INFO("description: " << text);
    CHECK_THROWS_WITH(load_synthetic(text), ContainsSubstring("synthetic machine \"" + std::string(text) + "\"") &&
                                                ContainsSubstring("package:2 l3:1 core:4 pu:2"));
  }
}

TEST_CASE("an XML file that cannot be used is an error with its name and the reason") {
  CHECK_THROWS_WITH(load_xml("/nowhere/machine.xml"),
                    ContainsSubstring("/nowhere/machine.xml") && ContainsSubstring("No such file or directory"));
  CHECK_THROWS_WITH(load_xml("/tmp"), ContainsSubstring("/tmp") && ContainsSubstring("directory"));
  const scratch_file empty("");
  CHECK_THROWS_WITH(load_xml(empty.path()), ContainsSubstring(empty.path()) && ContainsSubstring("empty"));
  for (const char* text :
       {"hello", "<?xml version=\"1.0\"?>\n<topology version=\"2.0\">\n", "<topology version=\"2.0\"></topology>",
        "<topology version=\"2.0\"><object type=\"Machine\" os_index=\"0\"></object></topology>"}) {
    INFO("text: " << text);
    const scratch_file file(text);
    CHECK_THROWS_WITH(load_xml(file.path()),
                      ContainsSubstring(file.path()) && ContainsSubstring("not a whole XML file"));
  }
}
