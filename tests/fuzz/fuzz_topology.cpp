// SPDX-License-Identifier: Apache-2.0
// Descriptions of networks, as of Slurm's topology.conf, and what is asked of them. With 0 in front: what Slurm tells
// its tasks, lines of address, pattern and node.
#include <weft/runtime/error.hpp>
#include <weft/topology/network.hpp>
#include <weft/topology/network_place.hpp>
#include <weft/topology/switches_above.hpp>

#include "input.hpp"

namespace topology = weft::topology;

namespace {

/// Whether a list may stand for a hundred thousand hosts: reading one takes as long as a thousand other inputs.
bool names_many(std::string_view text) {
  std::size_t digits = 0;
  for (const char c : text)
    if ((digits = c >= '0' && c <= '9' ? digits + 1 : 0) > 4) return true;
  return false;
}

void read_network(std::string_view text) try {
  if (names_many(text) && text.size() % 64 != 0) return;
  const topology::network read = topology::parse_network(text);
  if (read.machines.size() > 1000) return;
  std::vector<std::string> hosts;
  for (const topology::network_machine& each : read.machines) hosts.push_back(each.name);
  const std::vector<int> machines = topology::machines_of_ranks(read, hosts);
  weft_fuzz::require(topology::places_of(read, machines).size() == machines.size());
} catch (const weft::error& refused) {
  weft_fuzz::require(refused.code() == weft::errc::invalid_argument);
}

std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(text.size(), line.size() + 1));
  return line;
}

void read_variables(std::string_view text) {
  std::vector<topology::machine_below> all;
  while (!text.empty() && all.size() < 100) {
    const std::string_view address = take_line(text), pattern = take_line(text), node = take_line(text);
    all.push_back({std::string(node), topology::switches_by_slurm(address, pattern, node)});
  }
  const auto around = topology::network_of(all);
  if (around) weft_fuzz::require(topology::places_of(around->between, around->machine_of).size() == all.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  weft_fuzz::input from(data, size);
  const bool variables = size != 0 && data[0] == 0;
  if (variables) from.take();
  const std::string_view text = weft_fuzz::text_of(from.rest());
  variables ? read_variables(text) : read_network(text);
  return 0;
}
