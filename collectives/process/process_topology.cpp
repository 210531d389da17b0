// SPDX-License-Identifier: Apache-2.0
// Where the processes of a job are on the network, as a file says that process 0 reads for all, or as each of them was
// told by its launcher.
#include <cstdio>
#include <weft/fabric/process_record.hpp>
#include <weft/process/process.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/text_file.hpp>
#include <weft/topology/switches_above.hpp>

#include "contention.hpp"

namespace weft::detail {
namespace {

constexpr const char* topology_key = "weft/topology";

/// In front of what is wrong, in the place of a line for each process.
constexpr char mark_of_failure = '!';

/// What the processes know of the switches above them.
std::vector<topology::machine_below> machines_of(std::span<const fabric::process_record> records) {
  std::vector<topology::machine_below> machines;
  for (const fabric::process_record& each : records) machines.push_back({each.host.node, each.switches});
  return machines;
}

std::string to_text(const std::vector<topology::machine_below>& machines) {
  std::string text;
  for (const topology::machine_below& each : machines) text += each.machine + " " + each.switches + "\n";
  return text;
}

}  // namespace

std::string process::read_topology(std::span<const fabric::process_record> records) const try {
  const topology::network network = topology::load_network(settings_.topology);
  std::vector<std::string> hosts;
  for (const int each : everyone_->process) hosts.push_back(records[static_cast<std::size_t>(each)].host.name);
  const std::vector<int> machine_of_rank = topology::machines_of_ranks(network, hosts);
  std::vector<int> machines;
  for (const int first : processes_->world) machines.push_back(machine_of_rank[static_cast<std::size_t>(first)]);
  return to_text(topology::known_to(network, machines));
} catch (const error& failure) {
  return mark_of_failure + std::string(failure.what());
}

void process::settle_topology(std::span<const fabric::process_record> records, clock::time_point deadline) {
  if (settings_.topology == options::no_topology) return;
  const bool by_file = !settings_.topology.empty();
  const auto known = topology::network_of(by_file ? told_topology(records, deadline) : machines_of(records));
  if (!known && by_file) throw error(errc::protocol, "store: the places of processes on the network are cut short");
  if (!known) return;
  if (by_file && !sees_contention() && rendezvous_->process() == 0)
    std::fprintf(stderr,
                 "weft: warning: built without its simulator (-Dsimulator=disabled) weft does not see which messages "
                 "share links of the network of --topology: algorithms are chosen as if none did\n");
  network_ = known->between;
  places_ = topology::places_of(network_, known->machine_of);
}

std::vector<topology::machine_below> process::told_topology(std::span<const fabric::process_record> records,
                                                            clock::time_point deadline) {
  if (rendezvous_->process() == 0) {
    const std::string text = read_topology(records);
    rendezvous_->put(topology_key, std::as_bytes(std::span(text)));
  }
  const auto told = rendezvous_->get(topology_key, deadline);
  const std::string text(reinterpret_cast<const char*>(told.data()), told.size());
  if (text.starts_with(mark_of_failure)) throw error(errc::invalid_argument, text.substr(1));
  std::vector<topology::machine_below> machines(records.size());
  auto word = words_of(text);
  word.resize(2 * machines.size());
  for (std::size_t i = 0; i < machines.size(); ++i)
    machines[i] = {std::string(word[2 * i]), std::string(word[2 * i + 1])};
  return machines;
}

}  // namespace weft::detail
