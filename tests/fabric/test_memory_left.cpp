// SPDX-License-Identifier: Apache-2.0
// What is left to a process, by files as the kernel writes them.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "catch.hpp"
#include "fabric/shm/memory_left.hpp"

using namespace weft::fabric;
using weft_test::ContainsSubstring;

namespace {

/// A folder with files as those of /, gone with this.
class file_tree {
 public:
  file_tree() : root_(std::filesystem::temp_directory_path() / ("weft-left-" + std::to_string(::getpid()))) {
    write("proc/meminfo", "MemTotal:       1000000 kB\nMemFree:    1 kB\nMemAvailable:     500000 kB\n");
  }
  ~file_tree() { std::filesystem::remove_all(root_); }
  void write(const std::string& name, const std::string& content) const {
    std::filesystem::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << content;
  }
  memory_left left() const { return find_memory_left(root_); }

 private:
  const std::filesystem::path root_;
};

constexpr std::uint64_t mebi = 1 << 20;

}  // namespace

TEST_CASE("without control groups what the machine has left is left", "[heap]") {
  const file_tree system;
  CHECK(system.left().bytes == std::uint64_t{500'000} * 1024);
  CHECK_THAT(system.left().limit, ContainsSubstring("MemAvailable"));
}

TEST_CASE("of control groups the one that leaves least counts", "[heap]") {
  const file_tree system;
  system.write(
      "proc/self/mountinfo",
      "22 1 0:5 / /proc rw - proc proc rw\n30 22 0:27 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n");
  system.write("proc/self/cgroup", "0::/jobs/mine\n");
  system.write("sys/fs/cgroup/jobs/memory.max", std::to_string(200 * mebi) + "\n");
  system.write("sys/fs/cgroup/jobs/memory.current", std::to_string(150 * mebi) + "\n");
  system.write("sys/fs/cgroup/jobs/mine/memory.max", "max\n");
  system.write("sys/fs/cgroup/jobs/mine/memory.current", std::to_string(100 * mebi) + "\n");
  CHECK(system.left().bytes == 50 * mebi);
  CHECK_THAT(system.left().limit, ContainsSubstring("/sys/fs/cgroup/jobs/memory.max"));
  SECTION("what it holds of files can go") {
    system.write("sys/fs/cgroup/jobs/memory.stat", "anon 7\nactive_file " + std::to_string(3 * mebi) +
                                                       "\ninactive_file " + std::to_string(4 * mebi) + "\nslab 9\n");
    CHECK(system.left().bytes == 57 * mebi);
  }
  SECTION("the process's own") {
    system.write("sys/fs/cgroup/jobs/mine/memory.max", std::to_string(110 * mebi) + "\n");
    CHECK(system.left().bytes == 10 * mebi);
    system.write("sys/fs/cgroup/jobs/mine/memory.max", std::to_string(90 * mebi) + "\n");
    CHECK(system.left().bytes == 0);
  }
}

TEST_CASE("control groups of the first version limit as well", "[heap]") {
  const file_tree system;
  const std::string options = "rw,nosuid - cgroup cgroup rw,";
  // In a container: what is mounted begins with its own group.
  system.write("proc/self/mountinfo", "31 22 0:28 /box /sys/fs/cgroup/cpu " + options + "cpu\n32 22 0:29 /box " +
                                          "/sys/fs/cgroup/memory " + options + "memory\n");
  system.write("proc/self/cgroup", "5:cpu:/box\n4:memory:/box/mine\n0::/\n");
  system.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  system.write("sys/fs/cgroup/memory/memory.usage_in_bytes", "10\n");
  CHECK_THAT(system.left().limit, ContainsSubstring("MemAvailable"));
  system.write("sys/fs/cgroup/memory/mine/memory.limit_in_bytes", std::to_string(30 * mebi) + "\n");
  system.write("sys/fs/cgroup/memory/mine/memory.usage_in_bytes", std::to_string(20 * mebi) + "\n");
  system.write("sys/fs/cgroup/memory/mine/memory.stat",
               "inactive_file 1\ntotal_inactive_file " + std::to_string(mebi) + "\n");
  CHECK(system.left().bytes == 11 * mebi);
  CHECK_THAT(system.left().limit, ContainsSubstring("mine/memory.limit_in_bytes"));
}

TEST_CASE("this process has something left", "[heap]") { CHECK(find_memory_left().bytes > 0); }
