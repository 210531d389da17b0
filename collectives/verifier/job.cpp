// SPDX-License-Identifier: Apache-2.0
// Whether messages match pair by pair.
#include "job.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace weft::schedules {
namespace {

/// The messages of one rank with one peer in one direction, by ordinal.
using channel = std::map<std::uint32_t, job_step>;

}  // namespace

job::job(const purpose& meant, std::span<const schedule> ranks) : ranks_(ranks) {
  check_form(meant, ranks);
  for (int rank = 0; rank < this->ranks(); ++rank) {
    first_.push_back(rank_of_.size());
    rank_of_.insert(rank_of_.end(), of(rank).steps.size(), rank);
  }
  match_messages();
}

void job::match_messages() {
  partner_.assign(steps(), no_partner);
  std::map<std::pair<int, int>, channel> sent, awaited;  // by sender and receiver
  for (job_step s = 0; s < steps(); ++s) {
    const step& message = at(s);
    if (is_local(message.kind)) continue;
    const int rank = rank_of(s);
    auto& through = is_outgoing(message.kind) ? sent[{rank, message.peer}] : awaited[{message.peer, rank}];
    if (!through.emplace(message.ordinal, s).second)
      fail(rank, index_of(s), message, "a second message with ordinal " + std::to_string(message.ordinal));
  }
  for (const auto& [pair, messages] : sent)
    for (const auto& [ordinal, from] : messages) {
      const auto& peers = awaited[pair];
      const auto found = peers.find(ordinal);
      if (found == peers.end())
        fail(rank_of(from), index_of(from), at(from), "nothing receives message " + std::to_string(ordinal));
      partner_[from] = found->second;
      partner_[found->second] = from;
    }
  for (job_step s = 0; s < steps(); ++s) {
    if (!is_incoming(at(s).kind)) continue;
    const auto wrong = [&](const std::string& what) { fail(rank_of(s), index_of(s), at(s), what); };
    const job_step from = partner(s);
    if (from == no_partner) wrong("nothing sends message " + std::to_string(at(s).ordinal));
    if ((at(s).kind == step_kind::await) != (at(from).kind == step_kind::notify))
      wrong("matches " + name_of(index_of(from), at(from)) + " of rank " + std::to_string(rank_of(from)));
    if (at(s).kind == step_kind::await) {
      if (offered(s) != offered(from))
        wrong("expects another offer than that of " + name_of(index_of(from), at(from)) + " of rank " +
              std::to_string(rank_of(from)));
      continue;
    }
    const auto expected = carried(s), sent = carried(from);
    if (expected == sent) continue;
    const auto differing = std::mismatch(expected.begin(), expected.end(), sent.begin(), sent.end());
    const auto name = [](const auto& blocks, auto at) { return at == blocks.end() ? "no more" : name_of({*at, 1}); };
    wrong("expects " + std::to_string(expected.size()) + " blocks, is sent " + std::to_string(sent.size()) + " by " +
          name_of(index_of(from), at(from)) + " of rank " + std::to_string(rank_of(from)) +
          "; the first difference is " + name(sent, differing.second) + " for " + name(expected, differing.first));
  }
}

std::vector<segment> job::offered(job_step s) const {
  const auto sources = of(rank_of(s)).sources_of(at(s));
  std::vector<segment> memory(sources.begin(), sources.end());
  for (segment& each : memory) each.owner = owner(rank_of(s), each);
  return memory;
}

std::vector<std::uint32_t> job::carried(job_step s) const {
  const schedule& its = of(rank_of(s));
  std::vector<std::uint32_t> blocks;
  for (const segment& part : at(s).kind == step_kind::send ? its.sources_of(at(s)) : its.targets_of(at(s)))
    for (std::uint32_t i = 0; i < part.elements.count; ++i) blocks.push_back(part.elements.first + i);
  return blocks;
}

}  // namespace weft::schedules
