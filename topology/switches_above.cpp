// SPDX-License-Identifier: Apache-2.0
#include <unordered_map>
#include <utility>
#include <weft/topology/switches_above.hpp>

#include "index.hpp"

namespace weft::topology {
namespace {

constexpr std::string_view switch_part = "switch.", node_part = "node";

class network_builder {
 public:
  /// False where it does not fit.
  bool add(const machine_below& one) {
    const int above = one.switches.empty() ? -1 : switch_at(one.switches);
    if (above == -1) return false;
    const int index = static_cast<int>(made_.machines.size());
    const auto [known, fresh] = machine_of_.emplace(one.machine, index);
    machines_.push_back(known->second);
    if (!fresh) return made_.machines[at(known->second)].at == above;
    made_.machines.push_back({one.machine, above});
    made_.switches[at(above)].machines.push_back(index);
    return true;
  }

  network_around take() {
    made_.top = 0;
    return {std::move(made_), std::move(machines_)};
  }

 private:
  /// The last switch of a way from the top, or -1 where it has another top.
  int switch_at(const std::string& way) {
    if (const auto known = switch_of_.find(way); known != switch_of_.end()) return known->second;
    const std::size_t last = way.rfind('.');
    const int parent = last == std::string::npos ? -1 : switch_at(way.substr(0, last));
    if (parent == -1 && (last != std::string::npos || !made_.switches.empty())) return -1;
    const int index = static_cast<int>(made_.switches.size());
    made_.switches.push_back({way.substr(last + 1), parent, {}, {}});
    if (parent != -1) made_.switches[at(parent)].switches.push_back(index);
    switch_of_.emplace(way, index);
    return index;
  }

  network made_;
  std::vector<int> machines_;                                    // of each
  std::unordered_map<std::string, int> switch_of_, machine_of_;  // by the way from the top; by name
};

}  // namespace

std::string switches_by_slurm(std::string_view address, std::string_view pattern, std::string_view node) {
  if (!address.ends_with(node) || node.empty()) return {};
  address.remove_suffix(node.size());
  std::string switches;
  while (pattern.starts_with(switch_part)) {
    pattern.remove_prefix(switch_part.size());
    const std::size_t end = address.find('.');
    if (end == std::string_view::npos) return {};
    if (end > 0) switches.append(switches.empty() ? "" : ".").append(address.substr(0, end));
    address.remove_prefix(end + 1);
  }
  return pattern == node_part && address.empty() ? switches : std::string();
}

std::optional<network_around> network_of(std::span<const machine_below> all) {
  network_builder builder;
  for (const machine_below& one : all)
    if (!builder.add(one)) return std::nullopt;
  return all.empty() ? std::nullopt : std::optional(builder.take());
}

std::vector<machine_below> known_to(const network& of, std::span<const int> machines) {
  std::vector<machine_below> all;
  for (const int machine : machines) {
    machine_below one{std::to_string(machine), {}};
    for (int above = of.machines[at(machine)].at; above != -1; above = of.switches[at(above)].parent)
      one.switches = std::to_string(above) + (one.switches.empty() ? "" : ".") + one.switches;
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace weft::topology
