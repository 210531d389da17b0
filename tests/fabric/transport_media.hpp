// SPDX-License-Identifier: Apache-2.0
// Everything here that implements the transport, and endpoints over it.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <ostream>
#include <string>
#include <vector>
#include <weft/fabric/libfabric_transport.hpp>
#include <weft/fabric/loopback.hpp>
#include <weft/runtime/error.hpp>

#include "catch.hpp"
#include "fabric/breakable_link.hpp"
#include "fabric/collecting_receiver.hpp"
#include "fabric/node_links.hpp"

namespace weft_test {

namespace fabric = weft::fabric;

inline constexpr std::size_t receive_bytes = std::size_t{1} << 20;

struct medium {
  std::string provider;  // or "loopback", "loopback, shaken", "node", "node, copying"
  bool registered = false;
  int links = 1;  // side by side
};
inline std::ostream& operator<<(std::ostream& to, const medium& what) {
  return to << what.provider << (what.registered ? ", registered" : "")
            << (what.links > 1 ? ", " + std::to_string(what.links) + " links" : "");
}

/// All of these, or where WEFT_TEST_MEDIA is "libfabric" those that go through it alone.
inline const std::vector<medium>& media() {
  static const std::vector<medium> all = [] {
    const char* const wanted = std::getenv("WEFT_TEST_MEDIA");
    const bool others = wanted == nullptr || std::string(wanted) != "libfabric";
    std::vector<medium> found;
    if (others) found = {{"loopback"}, {"loopback, shaken"}, {"node"}, {"node, copying"}};
    for (const std::string& name : fabric::known_providers()) {
      if (name == "sockets" || name == "udp;ofi_rxd") continue;  // stall now and then when a receiver polls late
      try {
        fabric::choose_provider(name, "", fabric::unsafe_providers::taken);
        found.push_back({name});
      } catch (const weft::error& missing) {
        WARN("skipped: " << missing.what());
      }
    }
    found.push_back({fabric::default_provider(), true});
    found.push_back({"shm", true});
    if (others) found.push_back({"loopback, shaken", false, 3});
    found.push_back({fabric::default_provider(), false, 2});
    return found;
  }();
  return all;
}

inline std::vector<std::unique_ptr<fabric::transport>> open(const medium& over, int count) {
  std::vector<std::unique_ptr<fabric::transport>> links;
  if (over.links > 1) {
    static const broken_links none;
    std::vector<std::vector<std::unique_ptr<fabric::transport>>> each(static_cast<std::size_t>(count));
    for (int link = 0; link < over.links; ++link) {
      auto ends = open({over.provider, over.registered}, count);
      for (std::size_t i = 0; i < each.size(); ++i) each[i].push_back(std::move(ends[i]));
    }
    for (int i = 0; i < count; ++i)
      links.push_back(joined(std::move(each[static_cast<std::size_t>(i)]), i, count, none));
    return links;
  }
  if (over.provider.starts_with("node")) return on_a_node(open({"loopback"}, count), over.provider == "node");
  if (over.provider.starts_with("loopback")) {
    fabric::loopback_options options;
    if (over.provider != "loopback") options.jitter_seed = 42;
    fabric::loopback_network network(count, options);
    for (int index = 0; index < count; ++index) links.push_back(network.endpoint(index));
  } else {
    const fabric::provider_choice chosen = fabric::choose_provider(over.provider, "", fabric::unsafe_providers::taken);
    fabric::libfabric_options options;
    options.force_local_registration = over.registered;
    for (int index = 0; index < count; ++index) links.push_back(fabric::open_libfabric_transport(chosen, options));
  }
  return links;
}

/// Endpoints that have all heard from one another, one connection made after the other.
inline std::vector<station> introduced(const medium& over, int count) {
  std::vector<station> at = start_all(open(over, count), receive_bytes);
  for (int from = 0; from < count; ++from) {
    for (int to = 0; to < count; ++to) {
      until([&] { return poll_all(at), at[from].link->inject(to, pattern(8, 1)); }, "a first frame's posting");
      until([&] { return poll_all(at), !at[to].seen.frames.empty(); }, "a first frame");
      at[to].seen.frames.clear();
    }
  }
  const std::uint32_t all = (1u << over.links) - 1;
  const auto met = [&](const station& one) { return one.link->links_in_contact() == all; };
  until([&] { return poll_all(at), std::ranges::all_of(at, met); }, "contact by all links");
  for (station& one : at) one.link->keep_links(all);
  return at;
}

inline bytes numbered(std::uint64_t number, std::size_t size) {
  bytes made(size);
  std::memcpy(made.data(), &number, std::min(size, sizeof number));
  return made;
}

inline void send_and_wait(std::vector<station>& at, int from, int to, const bytes& frame) {
  fabric::transfer context;
  until([&] { return poll_all(at), at[from].link->send(to, frame, context); }, "a send's posting");
  until([&] { return poll_all(at), at[from].seen.of(context) != nullptr && !at[to].seen.frames.empty(); }, "a frame");
  CHECK_FALSE(at[from].seen.of(context)->error);
  at[from].seen.endings.clear();
}

}  // namespace weft_test
