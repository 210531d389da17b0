// SPDX-License-Identifier: Apache-2.0
// By which interface the nodes of a job reach each other.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <weft/fabric/interfaces.hpp>
#include <weft/fabric/provider.hpp>
#include <weft/process/process.hpp>
#include <weft/runtime/backoff.hpp>
#include <weft/runtime/error.hpp>

namespace weft::detail {

void process::open_monitor() {
  const std::chrono::milliseconds heartbeat{1000};
  std::vector<std::string> more;
  for (const fabric::network_interface& each : links_)
    if (each.address != settings_.address && std::ranges::find(more, each.address) == more.end())
      more.push_back(each.address);
  monitor_ = std::make_unique<fabric::monitor>(
      fabric::monitor_options{settings_.address, std::move(more), settings_.peer_timeout,
                              std::min(heartbeat, settings_.peer_timeout / 4), true});
}

/// Until here the monitor listens where processes of its own node reach it. What is told first is the records, whose
/// beginning every build can read.
void process::settle_interfaces(std::vector<fabric::process_record>& records, clock::time_point deadline) {
  links_.assign(static_cast<std::size_t>(std::max(settings_.endpoints, 1)), {"", settings_.address});
  if (std::ranges::count(nodes_, nodes_[0]) == std::ssize(nodes_)) return;
  std::vector<fabric::interface_owner> owners;
  for (const fabric::process_record& each : records)
    owners.push_back({each.host.node, each.host.name, each.interfaces});
  if (std::ranges::all_of(owners, [](const auto& each) { return each.interfaces.empty(); })) return;
  if (const std::string& provider = records.front().provider; fabric::traits_of(provider).one_host)
    throw error(errc::no_provider, "provider " + provider +
                                       " reaches the processes of one host, and those of this job are on several; " +
                                       "valid: " + fabric::default_provider() + ", tcp;ofi_rxm");
  links_ = fabric::choose_links(owners, settings_.endpoints)[static_cast<std::size_t>(rendezvous_->process())];
  settings_.address = links_.front().address;
  open_monitor();
  const std::string& own = monitor_->control_address();
  const auto gathered = rendezvous_->gather("weft/control", std::as_bytes(std::span(own)), deadline);
  for (std::size_t i = 0; i < records.size(); ++i)
    records[i].control.assign(reinterpret_cast<const char*>(gathered[i].data()), gathered[i].size());
}

/// A link by which somebody is out of reach costs the start so long.
constexpr std::chrono::seconds contact_time{2};

void process::settle_links(clock::time_point deadline) {
  if (arena_ != nullptr && std::ssize(arena_->processes()) == rendezvous_->processes()) return;
  if (links_.size() < 2 || rendezvous_->processes() == 1) return;
  const std::uint32_t all = (1u << links_.size()) - 1;
  const auto limit = std::min(deadline, steady_clock_source().now() + contact_time);
  for (backoff pause; messages_->links_in_contact() != all && steady_clock_source().now() < limit;) {
    check_nobody_lost();
    messages_->poll() ? pause.reset() : pause.pause();
  }
  const std::uint32_t mine = messages_->links_in_contact();
  std::uint32_t kept = all;
  for (const auto& its : rendezvous_->gather("weft/links", std::as_bytes(std::span(&mine, 1)), deadline)) {
    std::uint32_t reached = 0;
    if (its.size() == sizeof reached) std::memcpy(&reached, its.data(), sizeof reached);
    kept &= reached;
  }
  messages_->keep_links(kept);
  if (rendezvous_->process() != 0) return;
  for (std::size_t i = 1; i < links_.size(); ++i)
    if ((kept >> i & 1) == 0)
      std::fprintf(stderr,
                   "weft: warning: some processes do not reach each other by the subnet of %s, which is not used "
                   "(WEFT_INTERFACE says which to take)\n",
                   to_string(links_[i]).c_str());
}

}  // namespace weft::detail
