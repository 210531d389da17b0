// SPDX-License-Identifier: Apache-2.0
#include "processor_work.hpp"

#include <algorithm>
#include <weft/schedules/partition.hpp>

namespace weft::schedules {
namespace {

/// For each byte of a message, at each end: what a processor copies that sends and receives at the same time.
double copied(const link_costs& by) { return by.exchange / 2; }

class work_counter final : public sink {
 public:
  work_counter(const partition& counts, const path_costs& each, const std::vector<int>& group)
      : counts_(counts), each_(each), group_(group) {}

  void steps_of(int rank) { rank_ = static_cast<std::size_t>(rank), steps_ = 0; }
  processor_work counted() const { return counted_; }

  void begin(const layout& cut) override { cut_ = cut; }
  step_index emit(step_kind kind, std::int32_t peer, std::span<const segment> sources, std::span<const segment> targets,
                  std::span<const step_index>) override {
    switch (kind) {
      case step_kind::send:
      case step_kind::receive:
        count_end(by(peer), bytes(kind == step_kind::send ? sources : targets));
        break;
      case step_kind::notify:
      case step_kind::await:
        count_end(by(peer), 0);
        break;
      case step_kind::copy:
      case step_kind::combine:
        count_bytes(sources, bytes(targets));
        break;
    }
    return steps_++;
  }

 private:
  const link_costs& by(std::int32_t peer) const {
    const bool near = !group_.empty() && group_[rank_] == group_[static_cast<std::size_t>(peer)];
    return near ? each_.near : each_;
  }
  double bytes(std::span<const segment> parts) const {
    std::size_t all = 0;
    for (const segment& part : parts) all += counts_.count(cut_, part.elements);
    return static_cast<double>(all);
  }
  void count_end(const link_costs& of, double bytes) {
    counted_.of_messages += of.overhead;
    counted_.of_bytes += copied(of) * bytes;
  }
  void count_bytes(std::span<const segment> sources, double bytes) {
    const double passes = std::max<double>(1, static_cast<double>(sources.size()) - 1);
    counted_.of_bytes += passes * each_.gamma * bytes;
    for (const segment& from : sources)
      if (from.owner != me) counted_.of_messages += each_.near.call, counted_.of_bytes += each_.near.read * bytes;
  }

  const partition& counts_;
  const path_costs& each_;
  const std::vector<int>& group_;
  layout cut_;
  std::size_t rank_ = 0;
  step_index steps_ = 0;
  processor_work counted_;
};

std::vector<int> group_of_ranks(const algorithm_arguments& of) {
  const auto& groups = of.groups.empty() ? of.nodes : of.groups;
  if (groups.size() < 2) return {};
  std::vector<int> number(static_cast<std::size_t>(of.ranks));
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (const int rank : groups[g]) number[static_cast<std::size_t>(rank)] = static_cast<int>(g);
  return number;
}

}  // namespace

processor_work work_of(const algorithm& how, algorithm_arguments of, std::size_t bytes, const path_costs& each) {
  const partition counts(how.kind == collective::alltoall ? bytes * static_cast<std::size_t>(of.ranks) : bytes);
  const std::vector<int> group = group_of_ranks(of);
  work_counter counter(counts, each, group);
  for (of.rank = 0; of.rank < of.ranks; ++of.rank) {
    counter.steps_of(of.rank);
    how.emit(of, counter);
  }
  return counter.counted();
}

}  // namespace weft::schedules
