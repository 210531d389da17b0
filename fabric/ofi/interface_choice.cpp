// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>
#include <weft/fabric/interfaces.hpp>
#include <weft/runtime/error.hpp>

#include "subnet.hpp"

namespace weft::fabric {
namespace {

/// What all processes have told, so that each of their addresses can be asked for.
class told_interfaces {
 public:
  explicit told_interfaces(const std::vector<interface_owner>& all) : all_(all) {
    for (const interface_owner& each : all)
      for (const network_interface& one : each.interfaces) nodes_of_[one.address].insert(each.node);
    for (const bool v6 : {false, true})
      if (std::ranges::all_of(all, [&](const interface_owner& each) { return has(each, v6); })) {
        is_v6_ = v6;
        break;
      }
    for (const interface_owner& each : all)
      for (const network_interface& one : each.interfaces)
        if (fits(one)) ++processes_in_[net_of(one)][each.node];
  }

  /// Of the family that all have, and nobody's elsewhere.
  bool fits(const network_interface& one) const { return net_of(one).is_v6 == is_v6_ && is_unique(one); }

  /// Processes of other nodes that have an address in the same subnet.
  int reached(const interface_owner& from, const network_interface& by) const {
    int sum = 0;
    for (const auto& [node, processes] : processes_in_.at(net_of(by)))
      if (node != from.node) sum += processes;
    return sum;
  }

  static subnet net_of(const network_interface& one) { return subnet_of(one.address, one.prefix).value_or(subnet{}); }

  /// Those that processes of all nodes may have an address in.
  std::vector<subnet> nets() const {
    std::vector<subnet> all;
    for (const auto& [net, processes] : processes_in_) all.push_back(net);
    return all;
  }

 private:
  bool is_unique(const network_interface& one) const { return nodes_of_.at(one.address).size() == 1; }
  bool has(const interface_owner& owner, bool v6) const {
    return std::ranges::any_of(owner.interfaces,
                               [&](const auto& one) { return net_of(one).is_v6 == v6 && is_unique(one); });
  }

  const std::vector<interface_owner>& all_;
  std::map<std::string, std::set<std::string>> nodes_of_;  // by address
  std::map<subnet, std::map<std::string, int>> processes_in_;
  bool is_v6_ = false;
};

[[noreturn]] void throw_unreached(const interface_owner& owner) {
  std::string has;
  for (const network_interface& one : owner.interfaces) has += (has.empty() ? "" : ", ") + to_string(one);
  throw error(errc::invalid_argument, "host " + owner.host +
                                          " has no address by which the job's other hosts reach it (" +
                                          (has.empty() ? "none at all" : has + ", which others have as well") +
                                          "); WEFT_INTERFACE says which interfaces and subnets to take");
}

interface_choice choose_for(const interface_owner& owner, const told_interfaces& told) {
  const network_interface* best = nullptr;
  const auto rank_of = [&](const network_interface& one) {
    return std::pair(told.reached(owner, one), one.default_route);
  };
  for (const network_interface& one : owner.interfaces)
    if (told.fits(one) && (best == nullptr || rank_of(one) > rank_of(*best))) best = &one;
  if (best == nullptr) throw_unreached(owner);
  const int reached = told.reached(owner, *best);
  const std::string reason = reached > 0 ? "its subnet holds " + std::to_string(reached) + " processes of other hosts"
                             : best->default_route ? "the default route, by which other subnets are reached"
                                                   : "no other one is better";
  return {*best, reason};
}

/// The interfaces of all processes that are one link.
using link_ends = std::vector<network_interface>;

bool is_of(const subnet& net, const network_interface& one) { return told_interfaces::net_of(one) == net; }

/// What `owner` has in the subnet and uses in none of `links`; null: nothing.
const network_interface* unused(const interface_owner& owner, std::size_t process, const subnet& net,
                                const told_interfaces& told, const std::vector<link_ends>& links) {
  const auto fits = [&](const network_interface& one) {
    return is_of(net, one) && told.fits(one) &&
           std::ranges::none_of(links, [&](const link_ends& each) { return each[process].name == one.name; });
  };
  const auto found = std::ranges::find_if(owner.interfaces, fits);
  return found == owner.interfaces.end() ? nullptr : &*found;
}

/// Nothing where some process has none, or one that would hold the first link up.
link_ends one_more(const std::vector<interface_owner>& all, const subnet& net, const told_interfaces& told,
                   const std::vector<link_ends>& links) {
  link_ends more;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const network_interface* const one = unused(all[i], i, net, told, links);
    if (one == nullptr || (one->speed != 0 && one->speed < links.front()[i].speed / 2)) return {};
    more.push_back(*one);
  }
  return more;
}

}  // namespace

std::vector<std::vector<network_interface>> choose_links(const std::vector<interface_owner>& all, int endpoints) {
  const told_interfaces told(all);
  std::vector<link_ends> links(1);
  for (const interface_choice& each : choose_interfaces(all)) links.front().push_back(each.is);
  const subnet first = told_interfaces::net_of(links.front().front());
  if (std::ranges::all_of(links.front(), [&](const network_interface& one) { return is_of(first, one); })) {
    std::vector<subnet> nets = told.nets();
    std::ranges::stable_partition(nets, [&](const subnet& net) { return net == first; });
    for (const subnet& net : nets)
      for (link_ends more = one_more(all, net, told, links); !more.empty(); more = one_more(all, net, told, links))
        links.push_back(std::move(more));
  }
  const std::size_t count = endpoints == 0 ? links.size() : static_cast<std::size_t>(endpoints);
  std::vector<std::vector<network_interface>> result(all.size());
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t link = 0; link < count; ++link) result[i].push_back(links[link % links.size()][i]);
  return result;
}

std::vector<interface_choice> choose_interfaces(const std::vector<interface_owner>& all) {
  const told_interfaces told(all);
  std::vector<interface_choice> result;
  for (const interface_owner& each : all) result.push_back(choose_for(each, told));
  return result;
}

}  // namespace weft::fabric
