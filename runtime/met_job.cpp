// SPDX-License-Identifier: Apache-2.0
#include "met_job.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>
#include <weft/runtime/challenge.hpp>
#include <weft/runtime/error.hpp>

#include "bytes.hpp"
#include "process_mapping.hpp"

namespace weft {
namespace {

constexpr std::string_view job_key = "weft/job";

/// By exchange.
node_place find_place(store& rendezvous, store::clock::time_point deadline) {
  std::vector<std::string> nodes;
  for (const auto& record : rendezvous.gather("weft/node", as_bytes(node_identity()), deadline))
    nodes.emplace_back(as_text(record));
  return place_among(nodes, rendezvous.process());
}

}  // namespace

joined_job identify(met_job met, store::clock::time_point deadline) {
  store& rendezvous = *met.rendezvous;
  if (rendezvous.process() == 0) {
    const auto number = draw_challenge();
    const std::string secret = make_secret();
    std::vector<std::byte> identity(sizeof(std::uint64_t) + secret.size());
    std::memcpy(identity.data(), number.data(), sizeof(std::uint64_t));
    std::ranges::copy(as_bytes(secret), identity.begin() + sizeof(std::uint64_t));
    rendezvous.put(job_key, identity);
  }
  if (met.place)
    rendezvous.fence(deadline);
  else
    met.place = find_place(rendezvous, deadline);
  const auto identity = rendezvous.get(job_key, deadline);
  if (identity.size() < sizeof(std::uint64_t)) throw error(errc::protocol, "store: the job's number is cut short");
  std::span<const std::byte> rest = identity;
  const auto number = take<std::uint64_t>(rest);
  return {std::move(met.rendezvous), number, std::string(as_text(rest)), *met.place, nullptr};
}

}  // namespace weft
