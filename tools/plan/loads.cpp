// SPDX-License-Identifier: Apache-2.0
#include "loads.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <weft/choice/network_costs.hpp>
#include <weft/simulator/traffic.hpp>

namespace weft::tools {
namespace {

struct link_load {
  simulator::link ends;
  bool up = false;
  simulator::link_traffic sent;
  int at_once = 0;
};

/// Of each link: the most messages of a round.
std::vector<int> most_at_once(const plan_job& job, const simulator::network& links) {
  std::vector<int> most(links.links.size()), now(links.links.size());
  int round = 0;
  for (const round_message& one : messages_of(job)) {
    if (one.round != round) now.assign(now.size(), 0);
    round = one.round;
    const auto node = [&](int rank) { return links.node_of[static_cast<std::size_t>(rank)]; };
    std::vector<std::uint32_t> way;
    append_way(links, node(one.from), node(one.to), way);
    for (const std::uint32_t l : way) most[l] = std::max(most[l], ++now[l]);
  }
  return most;
}

std::vector<link_load> used_links(const plan_job& job, const simulator::network& links, std::size_t bytes) {
  const auto sent = simulator::traffic_of(links, job.shape.ranks, counts_of(job, bytes), steps_of(job));
  const auto most = most_at_once(job, links);
  std::vector<link_load> all;
  for (std::size_t l = 0; l < links.links.size(); ++l)
    if (sent.links[l].messages > 0) all.push_back({links.links[l], l % 2 == 0, sent.links[l], most[l]});
  return all;
}

const std::string& name_of(const topology::network& on, int node) {
  const auto at = static_cast<std::size_t>(node);
  return at < on.switches.size() ? on.switches[at].name : on.machines[at - on.switches.size()].name;
}

std::string text_of(const std::vector<link_load>& all, const topology::network& on) {
  std::size_t width = 0;
  const auto ends = [&](const link_load& one) {
    return name_of(on, one.ends.from) + " -> " + name_of(on, one.ends.to);
  };
  for (const link_load& one : all) width = std::max(width, ends(one).size());
  const auto line = [&](std::string first, const std::string& bytes, const std::string& messages,
                        const std::string& at_once) {
    first.resize(std::max(width, std::size_t{4}), ' ');
    std::array<char, 64> rest{};
    std::snprintf(rest.data(), rest.size(), "  %14s  %10s  %7s\n", bytes.c_str(), messages.c_str(), at_once.c_str());
    return first + rest.data();
  };
  std::string text = line("link", "bytes", "messages", "at once");
  for (const link_load& one : all)
    text +=
        line(ends(one), std::to_string(one.sent.bytes), std::to_string(one.sent.messages), std::to_string(one.at_once));
  return text;
}

nlohmann::ordered_json json_of(const std::vector<link_load>& all, const topology::network& on) {
  nlohmann::ordered_json links = nlohmann::ordered_json::array();
  for (const link_load& one : all)
    links.push_back({{"link", name_of(on, one.up ? one.ends.from : one.ends.to)},
                     {"above", name_of(on, one.up ? one.ends.to : one.ends.from)},
                     {"direction", one.up ? "up" : "down"},
                     {"bytes", one.sent.bytes},
                     {"messages", one.sent.messages},
                     {"at_once", one.at_once}});
  return links;
}

}  // namespace

std::string loads_of(const plan_job& job, const call_network& on, bool as_json) {
  const simulator::network links = detail::links_of(on.switches, on.machine_of_rank, 1);
  const std::size_t bytes = job.bytes.value_or(8);
  const auto all = used_links(job, links, bytes);
  int most = 0;
  for (const link_load& one : all) most = std::max(most, one.at_once);
  if (!as_json)
    return heading(job) + ", " + std::to_string(bytes) + " bytes, links of " + on.file + ": at most " +
           std::to_string(most) + (most == 1 ? " message" : " messages") + " at once on one\n" +
           text_of(all, on.switches);
  nlohmann::ordered_json object{{"collective", name(job.how->kind)},
                                {"algorithm", job.how->name},
                                {"ranks", job.shape.ranks},
                                {"bytes", bytes},
                                {"topology", on.file},
                                {"most_at_once", most},
                                {"links", json_of(all, on.switches)}};
  return object.dump(1) + "\n";
}

}  // namespace weft::tools
