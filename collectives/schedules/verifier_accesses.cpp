// Whether conflicting accesses to a memory are ordered.
#include "verifier_memory.hpp"

namespace weft::schedules {
namespace {

/// What an end proves about other steps in every execution, buffered or not: that what the step depended on had ended,
/// and, for a receive, that what its send depended on had.
class causality {
 public:
  causality(const job& all, std::span<const step_event> order)
      : all_(all), end_(all.steps()), seen_by_(all.steps(), 0) {
    for (std::size_t i = 0; i < order.size(); ++i)
      if (order[i].end) end_[order[i].step] = i;
  }

  std::size_t end(job_step s) const { return end_[s]; }  ///< its place in an order that can happen

  /// Whether `a` has ended whenever `b` begins. Searches backwards from b; what ends before a can prove nothing about
  /// it.
  bool ends_before_begin(job_step a, job_step b) {
    ++search_;
    ended_.clear();
    bool found = false;
    const auto add = [&](job_step s) {
      found = found || s == a;
      if (seen_by_[s] == search_ || end_[s] <= end_[a]) return;
      seen_by_[s] = search_;
      ended_.push_back(s);
    };
    all_.for_each_before(b, add);
    for (std::size_t i = 0; !found && i < ended_.size();
         ++i) {  // nearest first: most orders are a dependency or two long
      const job_step s = ended_[i];
      all_.for_each_before(s, add);
      if (is_incoming(all_.at(s).kind)) all_.for_each_before(all_.partner(s), add);
    }
    return found;
  }

 private:
  const job& all_;
  std::vector<std::size_t> end_;
  std::vector<std::size_t> seen_by_;  // of each step: the last search that came by
  std::size_t search_ = 0;
  std::vector<job_step> ended_;  // what the current search has reached
};

/// Who used a memory last, in the order of ends: all earlier accesses are ordered before these.
struct uses {
  job_step writer = no_partner;
  std::vector<job_step> readers;  // since
};

class access_check {
 public:
  access_check(const job& all, std::span<const step_event> order, placing where)
      : all_(all),
        order_(order),
        in_place_(where == placing::in_place),
        cells_(all, where),
        before_(all, order),
        uses_(cells_.size()) {}

  void run() {
    for (const step_event e : order_)
      if (e.end && !copies_onto_itself(cells_, all_, e.step)) check_step(e.step);
  }

 private:
  void check_step(job_step s) {
    const int rank = all_.rank_of(s);
    const step& at = all_.at(s);
    for (const segment& source : all_.of(rank).sources_of(at))
      cells_.for_each(rank, source, [&](cell c) { read(s, c, source); });
    for (const segment& target : all_.of(rank).targets_of(at))
      cells_.for_each(rank, target, [&](cell c) { write(s, c, target); });
  }

  void read(job_step s, cell c, const segment& memory) {
    uses& last = uses_[c];
    if (last.writer != no_partner) need_order(last.writer, s, memory, "reads", "writes");
    last.readers.push_back(s);
  }

  void write(job_step s, cell c, const segment& memory) {
    uses& last = uses_[c];
    if (last.writer != no_partner) need_order(last.writer, s, memory, "writes", "writes");
    for (const job_step reader : last.readers)
      if (reader != s) need_order(reader, s, memory, "writes", "reads");
    last.writer = s;
    last.readers.clear();
  }

  void need_order(job_step earlier, job_step s, const segment& memory, const char* does, const char* other_does) {
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
};

}  // namespace

void check_accesses(const job& all, std::span<const step_event> order, placing where) {
  access_check(all, order, where).run();
}

}  // namespace weft::schedules
