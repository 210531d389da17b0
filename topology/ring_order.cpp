// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <weft/runtime/error.hpp>
#include <weft/topology/ring_order.hpp>

#include "index.hpp"

namespace weft::topology {
namespace {

void check_machine(const network& of, int machine) {
  if (machine < 0 || at(machine) >= of.machines.size())
    throw error(errc::invalid_argument, "machine " + std::to_string(machine) + " is none of the network's " +
                                            std::to_string(of.machines.size()));
}

/// A switch's machines, then what is below it.
std::vector<int> switches_depth_first(const network& of) {
  std::vector<int> order, to_visit;
  if (of.top != -1) to_visit.push_back(of.top);
  while (!to_visit.empty()) {
    order.push_back(to_visit.back());
    to_visit.pop_back();
    const auto& below = of.switches[at(order.back())].switches;
    to_visit.insert(to_visit.end(), below.rbegin(), below.rend());
  }
  return order;
}

/// Climbs from both ends of a way until they meet.
class way_counter {
 public:
  explicit way_counter(const network& over) : over_(over), depth_(over.switches.size()) {
    for (const int one : switches_depth_first(over))
      if (one != over.top) depth_[at(one)] = depth_[at(over.switches[at(one)].parent)] + 1;
    loads_.from_machine.resize(over.machines.size());
    loads_.to_machine.resize(over.machines.size());
    loads_.from_switch.resize(over.switches.size());
    loads_.to_switch.resize(over.switches.size());
  }

  void add(const machine_transfer& transfer) {
    check_machine(over_, transfer.from);
    check_machine(over_, transfer.to);
    if (transfer.from == transfer.to) return;
    ++loads_.from_machine[at(transfer.from)];
    ++loads_.to_machine[at(transfer.to)];
    int up = over_.machines[at(transfer.from)].at, down = over_.machines[at(transfer.to)].at;
    while (up != down) {
      const bool climb_up = depth_[at(up)] >= depth_[at(down)];
      int& end = climb_up ? up : down;
      ++(climb_up ? loads_.from_switch : loads_.to_switch)[at(end)];
      end = over_.switches[at(end)].parent;
    }
  }

  link_loads take() { return std::move(loads_); }

 private:
  const network& over_;
  std::vector<int> depth_;  // of each switch below the top
  link_loads loads_;
};

}  // namespace

std::vector<int> ring_order(const network& of, std::span<const int> machine_of_rank) {
  std::vector<std::vector<int>> ranks_at(of.machines.size());
  for (std::size_t rank = 0; rank < machine_of_rank.size(); ++rank) {
    check_machine(of, machine_of_rank[rank]);
    ranks_at[at(machine_of_rank[rank])].push_back(static_cast<int>(rank));
  }
  std::vector<int> order;
  order.reserve(machine_of_rank.size());
  for (const int one : switches_depth_first(of))
    for (const int machine : of.switches[at(one)].machines)
      order.insert(order.end(), ranks_at[at(machine)].begin(), ranks_at[at(machine)].end());
  return order;
}

int link_loads::most() const {
  int most = 0;
  for (const auto* const loads : {&from_machine, &to_machine, &from_switch, &to_switch})
    for (const int load : *loads) most = std::max(most, load);
  return most;
}

link_loads loads_of(const network& over, std::span<const machine_transfer> transfers) {
  way_counter count(over);
  for (const machine_transfer& transfer : transfers) count.add(transfer);
  return count.take();
}

link_loads loads_of_ring(const network& over, std::span<const int> machine_of_rank, std::span<const int> order) {
  const auto machine = [&](int rank) {
    if (rank < 0 || at(rank) >= machine_of_rank.size())
      throw error(errc::invalid_argument, "rank " + std::to_string(rank) + " of the ring is none of the " +
                                              std::to_string(machine_of_rank.size()) + " that have a machine");
    return machine_of_rank[at(rank)];
  };
  way_counter count(over);
  for (std::size_t i = 0; i < order.size(); ++i) count.add({machine(order[i]), machine(order[(i + 1) % order.size()])});
  return count.take();
}

}  // namespace weft::topology
