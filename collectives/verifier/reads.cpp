// SPDX-License-Identifier: Apache-2.0
// Whether another rank's memory is there while it is used.
#include <algorithm>

#include "causality.hpp"

namespace weft::schedules {
namespace {

/// Whether `offer` lets another rank use `memory`, of the same owner.
bool covers(const segment& offer, const segment& memory) {
  if (offer.owner != memory.owner || offer.in != memory.in || offer.slot != memory.slot) return false;
  const std::uint32_t first = offer.elements.first, end = first + offer.elements.count;
  const std::uint32_t wanted = memory.elements.first, wanted_end = wanted + memory.elements.count;
  const bool from_its_beginning = memory.in != buffer::scratch || wanted == first;
  return wanted >= first && wanted_end <= end && from_its_beginning;
}

class read_check {
 public:
  read_check(const job& all, std::span<const step_event> order) : all_(all), before_(all, order), offers_(all.steps()) {
    for (job_step s = 0; s < all_.steps(); ++s)
      if (all_.at(s).kind == step_kind::await) offers_[s] = all_.offered(s);
  }

  void run() {
    for (job_step s = 0; s < all_.steps(); ++s) {
      if (!is_local(all_.at(s).kind)) continue;
      const schedule& its = all_.of(all_.rank_of(s));
      for (const segment& source : its.sources_of(all_.at(s))) check(s, source, "reads ");
      for (const segment& target : its.targets_of(all_.at(s))) check(s, target, "writes ");
    }
  }

 private:
  void check(job_step s, const segment& memory, const char* does) {
    if (memory.owner == me || memory.elements.count == 0 || memory.in == buffer::board) return;  // it outlives the call
    const auto wrong = [&](const std::string& what) {
      fail(all_.rank_of(s), all_.index_of(s), all_.at(s), does + name_of(memory) + what);
    };
    if (!offered_before(s, memory)) wrong(" without waiting for an offer of it");
    if (!is_awaited(s, memory.owner) && !before_.ends_before_end_of(s, memory.owner))
      wrong(", whose end does not wait for that");
  }

  bool offered_before(job_step s, const segment& memory) {
    const int rank = all_.rank_of(s);
    for (step_index i = all_.index_of(s); i-- > 0;) {
      const job_step offer = all_.number(rank, i);
      const auto covers_it = [&](const segment& each) { return covers(each, memory); };
      if (std::ranges::any_of(offers_[offer], covers_it) && before_.ends_before_begin(offer, s)) return true;
    }
    return false;
  }

  /// Whether the owner awaits the very rank that uses it, which tells it: what is most often so.
  bool is_awaited(job_step s, int owner) {
    const int reader = all_.rank_of(s);
    for (step_index i = static_cast<step_index>(all_.of(owner).steps.size()); i-- > 0;) {
      const job_step await = all_.number(owner, i);
      if (all_.at(await).kind == step_kind::await && all_.at(await).peer == reader)
        return before_.ends_before_begin(s, all_.partner(await));
    }
    return false;
  }

  const job& all_;
  causality before_;
  std::vector<std::vector<segment>> offers_;  // of awaits
};

}  // namespace

void check_reads(const job& all, std::span<const step_event> order) { read_check(all, order).run(); }

}  // namespace weft::schedules
