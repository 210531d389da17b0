// SPDX-License-Identifier: Apache-2.0
// Whether messages match pair by pair.
#include "job.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace weft::schedules {
namespace {

/// A message as one side names it.
struct named_message {
  int sender, receiver;
  std::uint32_t ordinal;
  job_step step;

  auto name() const { return std::tie(sender, receiver, ordinal); }
};

bool by_name(const named_message& a, const named_message& b) { return a.name() < b.name(); }

/// The first step that has the name of an earlier one.
job_step first_repeated(const std::vector<named_message>& sorted) {
  job_step first = no_partner;
  for (std::size_t i = 1; i < sorted.size(); ++i)
    if (sorted[i].name() == sorted[i - 1].name()) first = std::min(first, sorted[i].step);
  return first;
}

}  // namespace

job::job(const purpose& meant, std::span<const schedule> ranks) : ranks_(ranks) {
  check_form(meant, ranks);
  for (int rank = 0; rank < this->ranks(); ++rank) {
    if (of(rank).steps.size() >= no_partner - rank_of_.size())
      fail(rank, "there are too many steps of all ranks together");
    first_.push_back(static_cast<job_step>(rank_of_.size()));
    rank_of_.insert(rank_of_.end(), of(rank).steps.size(), rank);
  }
  match_messages();
}

void job::match_messages() {
  partner_.assign(steps(), no_partner);
  std::vector<named_message> sent, awaited;
  for (job_step s = 0; s < steps(); ++s) {
    const step& message = at(s);
    if (is_outgoing(message.kind)) sent.push_back({rank_of(s), message.peer, message.ordinal, s});
    if (is_incoming(message.kind)) awaited.push_back({message.peer, rank_of(s), message.ordinal, s});
  }
  std::ranges::stable_sort(sent, by_name);
  std::ranges::stable_sort(awaited, by_name);
  if (const job_step again = std::min(first_repeated(sent), first_repeated(awaited)); again != no_partner)
    fail(rank_of(again), index_of(again), at(again),
         "a second message with ordinal " + std::to_string(at(again).ordinal));
  auto to = awaited.begin();
  for (const named_message& from : sent) {
    while (to != awaited.end() && by_name(*to, from)) ++to;
    if (to == awaited.end() || by_name(from, *to))
      fail(rank_of(from.step), index_of(from.step), at(from.step),
           "nothing receives message " + std::to_string(from.ordinal));
    partner_[from.step] = to->step;
    partner_[to->step] = from.step;
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
