// SPDX-License-Identifier: Apache-2.0
// By which interface the nodes of a job reach each other.
#include <algorithm>
#include <chrono>
#include <weft/fabric/interfaces.hpp>
#include <weft/fabric/provider.hpp>
#include <weft/process/process.hpp>
#include <weft/runtime/error.hpp>

namespace weft::detail {

void process::open_monitor() {
  const std::chrono::milliseconds heartbeat{1000};
  monitor_ = std::make_unique<fabric::monitor>(fabric::monitor_options{
      settings_.address, settings_.peer_timeout, std::min(heartbeat, settings_.peer_timeout / 4), true});
}

/// Until here the monitor listens where processes of its own node reach it. What is told first is the records, whose
/// beginning every build can read.
void process::settle_interfaces(std::vector<fabric::process_record>& records, clock::time_point deadline) {
  if (std::ranges::count(nodes_, nodes_[0]) == std::ssize(nodes_)) return;
  std::vector<fabric::interface_owner> owners;
  for (const fabric::process_record& each : records)
    owners.push_back({each.host.node, each.host.name, each.interfaces});
  if (std::ranges::all_of(owners, [](const auto& each) { return each.interfaces.empty(); })) return;
  if (const std::string& provider = records.front().provider; fabric::traits_of(provider).one_host)
    throw error(errc::no_provider, "provider " + provider +
                                       " reaches the processes of one host, and those of this job are on several; " +
                                       "valid: " + fabric::default_provider() + ", tcp;ofi_rxm");
  settings_.address = fabric::choose_interfaces(owners)[static_cast<std::size_t>(rendezvous_->process())].is.address;
  open_monitor();
  const std::string& own = monitor_->control_address();
  const auto gathered = rendezvous_->gather("weft/control", std::as_bytes(std::span(own)), deadline);
  for (std::size_t i = 0; i < records.size(); ++i)
    records[i].control.assign(reinterpret_cast<const char*>(gathered[i].data()), gathered[i].size());
}

}  // namespace weft::detail
