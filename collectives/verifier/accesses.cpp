// SPDX-License-Identifier: Apache-2.0
// Whether conflicting accesses to a memory are ordered.
#include <utility>

#include "causality.hpp"
#include "memory.hpp"

namespace weft::schedules {
namespace {

/// Who used a memory last, in the order of ends: all earlier accesses are ordered before these.
struct uses {
  job_step writer = no_partner;
  std::size_t last_reader = 0;  // since: its place among all that is noted of readers; 0: none
};

class access_check {
 public:
  access_check(const job& all, std::span<const step_event> order, placing where)
      : all_(all),
        order_(order),
        in_place_(where == placing::in_place),
        cells_(all, where),
        before_(all, order),
        uses_(cells_.size()),
        readers_(1) {}

  void run() {
    for (const step_event e : order_)
      if (e.end && !copies_onto_itself(cells_, all_, e.step)) check_step(e.step);
  }

 private:
  void check_step(job_step s) {
    const int rank = all_.rank_of(s);
    const step& at = all_.at(s);
    for (const segment& source : all_.of(rank).sources_of(at))
      if (!is_word(at.kind)) cells_.for_each(rank, source, [&](cell c) { read(s, c, source); });
    for (const segment& target : all_.of(rank).targets_of(at))
      cells_.for_each(rank, target, [&](cell c) { write(s, c, target); });
  }

  void read(job_step s, cell c, const segment& memory) {
    uses& last = uses_[c];
    if (last.writer != no_partner) need_order(last.writer, s, memory, "reads", "writes");
    readers_.push_back({s, last.last_reader});
    last.last_reader = readers_.size() - 1;
  }

  void write(job_step s, cell c, const segment& memory) {
    uses& last = uses_[c];
    if (last.writer != no_partner) need_order(last.writer, s, memory, "writes", "writes");
    for (std::size_t at = last.last_reader; at != 0; at = readers_[at].before)
      if (readers_[at].step != s) need_order(readers_[at].step, s, memory, "writes", "reads");
    last = {s, 0};
  }

  void need_order(job_step earlier, job_step s, const segment& memory, const char* does, const char* other_does) {
    if (ordered_ == std::pair(earlier, s)) return;  // most often: of the cell before
    ordered_ = {earlier, s};
    if (before_.ends_before_begin(earlier, s)) return;
    fail(all_.rank_of(s), all_.index_of(s), all_.at(s),
         std::string(does) + " " + name_of(memory) + (in_place_ ? " (in place)" : "") + " without waiting for " +
             name_of(all_.index_of(earlier), all_.at(earlier)) + " of rank " + std::to_string(all_.rank_of(earlier)) +
             ", which " + other_does + " it");
  }

  const job& all_;
  std::span<const step_event> order_;
  bool in_place_;
  cell_map cells_;
  causality before_;
  std::vector<uses> uses_;
  struct reader {
    job_step step = no_partner;
    std::size_t before = 0;  // the one before it, of the same memory
  };
  std::vector<reader> readers_;
  std::pair<job_step, job_step> ordered_{no_partner, no_partner};  // found to be, last
};

}  // namespace

void check_accesses(const job& all, std::span<const step_event> order, placing where) {
  access_check(all, order, where).run();
}

}  // namespace weft::schedules
