// SPDX-License-Identifier: Apache-2.0
// near: ranks are divided by node and by NUMA node as Linux itself says where their threads may run.
#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>
#include <weft/topology/cpu_set.hpp>
#include <weft/weft.hpp>

#include "jobs.hpp"

namespace weft_test {
namespace {

/// The NUMA node that has every cpu that this thread may run on; -1 where there is none.
int numa_node_of_this_thread() {
  cpu_set_t mine;
  if (sched_getaffinity(0, sizeof mine, &mine) != 0) return -1;
  for (const auto& each : std::filesystem::directory_iterator("/sys/devices/system/node")) {
    const std::string name = each.path().filename();
    std::string list;
    if (!name.starts_with("node") || !std::getline(std::ifstream(each.path() / "cpulist"), list)) continue;
    const auto cpus = weft::topology::cpu_set::parse(list);
    bool all = true;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) all = all && (!CPU_ISSET(cpu, &mine) || cpus.includes({cpu}));
    if (all) return std::stoi(name.substr(4));
  }
  return -1;
}

std::vector<int> world_ranks(weft::communicator& world, weft::communicator& among) {
  const int mine = world.rank();
  std::vector<int> all(static_cast<std::size_t>(among.size()));
  among.allgather(std::span(&mine, 1), all);
  return all;
}

}  // namespace

int near(int argc, char** argv) {
  weft::runtime runtime(argc, argv);
  runtime.run([](weft::communicator& world) {
    const int mine = numa_node_of_this_thread();
    std::vector<int> each(static_cast<std::size_t>(world.size()));
    world.allgather(std::span(&mine, 1), each);
    std::vector<int> beside, all;
    for (int r = 0; r < world.size(); ++r) {
      all.push_back(r);
      if (each[static_cast<std::size_t>(r)] == mine) beside.push_back(r);
    }
    auto node = world.split_by_node();
    if (world_ranks(world, node) != all) throw std::runtime_error("not all ranks are on this node");
    auto numa = world.split_by_numa();
    if (world_ranks(world, numa) != beside) throw std::runtime_error("not the ranks of this NUMA node");
    auto backwards = world.split_by_numa(-world.rank());
    std::reverse(beside.begin(), beside.end());
    if (world_ranks(world, backwards) != beside) throw std::runtime_error("not by their keys");
    if (world.rank() == 0) std::printf("%d ranks, %d on the first NUMA node\n", world.size(), numa.size());
  });
  return 0;
}

}  // namespace weft_test
