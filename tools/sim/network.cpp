// SPDX-License-Identifier: Apache-2.0
#include "network.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <weft/algorithms/rank_placement.hpp>
#include <weft/choice/network_costs.hpp>
#include <weft/command_line/command_line.hpp>
#include <weft/topology/ring_order.hpp>

namespace weft::tools {
namespace {

const std::string torus_prefix = "torus:", fat_tree_prefix = "fat-tree:";

std::optional<std::vector<int>> numbers(const std::string& text, char between) {
  std::vector<int> all;
  for (const std::string& one : CLI::detail::split(text, between))
    if (!parse(one, all.emplace_back())) return std::nullopt;
  return all;
}

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
  throw CLI::ValidationError("--topology", "\"" + text + "\" " + why);
}

/// A network whose machines are its first nodes.
simulator::network described(const std::string& text) {
  try {
    if (text.starts_with(torus_prefix)) {
      const auto sizes = numbers(text.substr(torus_prefix.size()), 'x');
      if (!sizes) refuse(text, "is not torus: and a size for each dimension, such as torus:4x4x4");
      return simulator::torus_of(*sizes);
    }
    const auto parts = CLI::detail::split(text.substr(fat_tree_prefix.size()), ';');
    const char* const right =
        "is not fat-tree:LEVELS;DOWN;UP;CABLES with a number for each level, such as fat-tree:2;4,4;1,2;1,2";
    if (parts.size() != 4) refuse(text, right);
    const auto levels = numbers(parts[0], ','), below = numbers(parts[1], ','), above = numbers(parts[2], ','),
               cables = numbers(parts[3], ',');
    if (!levels || !below || !above || !cables || levels->size() != 1 || std::ssize(*below) != levels->front())
      refuse(text, right);
    return simulator::fat_tree_of({*below, *above, *cables});
  } catch (const std::invalid_argument& wrong) {
    refuse(text, std::string("is no such ") + wrong.what());
  }
}

int machines_of(const simulator::network& of) {
  const auto* const up = std::get_if<simulator::levels>(&of.ways);
  if (up == nullptr) return of.nodes();
  const int bottom = up->nodes.front().depth;
  return static_cast<int>(std::ranges::count(up->nodes, bottom, &simulator::levels::node::depth));
}

/// Where a machine is in a ring through all: in a torus back and forth, so that each is beside the next.
std::int64_t place_in_ring(const simulator::network& of, int machine) {
  const auto* const torus = std::get_if<simulator::torus>(&of.ways);
  if (torus == nullptr) return machine;
  std::int64_t place = 0;
  int stride = of.nodes();
  for (auto size = torus->sizes.rbegin(); size != torus->sizes.rend(); ++size) {
    stride /= *size;
    const int at = machine / stride % *size;
    place = place * *size + (place % 2 == 0 ? at : *size - 1 - at);
  }
  return place;
}

placed_network place_on_described(const network_options& line, int ranks, std::uint64_t seed) {
  placed_network made{described(line.topology), {}};
  made.links.node_of = place_ranks(machines_of(made.links), ranks, line.placing, seed);
  made.ring.resize(static_cast<std::size_t>(ranks));
  std::iota(made.ring.begin(), made.ring.end(), 0);
  std::ranges::stable_sort(made.ring, {}, [&](int rank) {
    return place_in_ring(made.links, made.links.node_of[static_cast<std::size_t>(rank)]);
  });
  return made;
}

placed_network place_on_file(const network_options& line, int ranks, std::uint64_t seed) {
  const topology::network switches = topology::load_network(line.topology);
  const auto machine_of_rank = place_ranks(static_cast<int>(switches.machines.size()), ranks, line.placing, seed);
  return {detail::links_of(switches, machine_of_rank, 1), topology::ring_order(switches, machine_of_rank)};
}

double of_level(const std::vector<double>& all, int level, double otherwise) {
  if (all.empty()) return otherwise;
  return all[std::min(static_cast<std::size_t>(level), all.size() - 1)];
}

}  // namespace

CLI::Option* add_network_options(CLI::App& app, network_options& line) {
  app.add_option("--topology", line.topology,
                 "Whose links transfers share, max-min fairly: Slurm's topology.conf, torus:XxYxZ, or a fat tree as "
                 "SimGrid has them: fat-tree:LEVELS;DOWN;UP;CABLES")
      ->type_name("NETWORK");
  const auto by_level = [&](const char* name, std::vector<double>& values, const char* meaning, const char* unit) {
    line.options.push_back(app.add_option(name, values, meaning)
                               ->delimiter(',')
                               ->allow_extra_args(false)
                               ->check(check_time)
                               ->type_name(unit));
  };
  by_level("--link-gap", line.gap,
           "For each byte, of a link each way; several by comma: of a machine's link, of those a level above, ..., or "
           "of a torus' dimensions [G]",
           "NS/B,...");
  by_level("--link-latency", line.latency, "Of a link, beside L; several as above [0]", "NS,...");
  by_level("--link-overhead", line.overhead, "o of a message through such a link, at the least [0]", "NS,...");
  by_level("--link-message-gap", line.message_gap, "g of a message through such a link, at the least [0]", "NS,...");
  by_level("--flow-gap", line.flow_gap, "G of a message through such a link, at the least [0]", "NS/B,...");
  line.options.push_back(
      app.add_option("--placement", line.placing, "Where ranks are on its machines; random by the seed [block]"));
  choose(line.options.back(), {"block", "cyclic", "random"});
  line.options.push_back(app.add_flag("--network-order", line.in_order, "Rings go round as the network lies"));
  return line.options.back();
}

void check_network(const network_options& line, double gap_per_byte) {
  if (line.topology.empty()) {
    for (const CLI::Option* option : line.options)
      if (option->count() > 0)
        throw CLI::ValidationError(option->get_name(), "only a network has that: --topology NETWORK");
  } else if (!(line.gap.empty() ? gap_per_byte > 0 : std::ranges::min(line.gap) > 0)) {
    throw CLI::ValidationError("--topology", "its links need a speed: give --link-gap, or -G");
  }
}

placed_network place_on(const network_options& line, int ranks, double gap_per_byte, std::uint64_t seed) {
  const bool by_description = line.topology.starts_with(torus_prefix) || line.topology.starts_with(fat_tree_prefix);
  placed_network made = by_description ? place_on_described(line, ranks, seed) : place_on_file(line, ranks, seed);
  const std::vector<int> levels = link_levels(made.links);
  for (std::size_t l = 0; l < levels.size(); ++l) {
    simulator::link& one = made.links.links[l];
    one.capacity = 1 / of_level(line.gap, levels[l], gap_per_byte);
    one.delay = of_level(line.latency, levels[l], 0);
    one.overhead = of_level(line.overhead, levels[l], 0);
    one.gap = of_level(line.message_gap, levels[l], 0);
    one.gap_per_byte = of_level(line.flow_gap, levels[l], 0);
  }
  return made;
}

}  // namespace weft::tools
