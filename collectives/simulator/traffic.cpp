// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <weft/simulator/traffic.hpp>

namespace weft::simulator {
namespace {

std::size_t nth(int rank) { return static_cast<std::size_t>(rank); }

/// Counts what one rank after the other sends.
class counted_sends final : public schedules::sink {
 public:
  counted_sends(const network& over, const schedules::partition& counts, traffic& into)
      : over_(over), counts_(counts), into_(into) {
    into_.links.resize(over.links.size());
  }

  void take(int rank) noexcept {
    rank_ = rank;
    steps_ = 0;
  }
  void begin(const schedules::layout& cut) override { cut_ = cut; }
  schedules::step_index emit(schedules::step_kind kind, std::int32_t peer, std::span<const schedules::segment> sources,
                             std::span<const schedules::segment>, std::span<const schedules::step_index>) override {
    if (kind == schedules::step_kind::send) {
      std::size_t bytes = 0;
      for (const schedules::segment& part : sources) bytes += counts_.count(cut_, part.elements);
      add(peer, bytes);
    } else if (kind == schedules::step_kind::notify) {
      add(peer, 0);
    }
    return steps_++;
  }

 private:
  void add(int peer, std::uint64_t bytes) {
    ++into_.messages;
    way_.clear();
    append_way(over_, over_.node_of[nth(rank_)], over_.node_of[nth(peer)], way_);
    for (const std::uint32_t l : way_) {
      into_.links[l].bytes += bytes;
      ++into_.links[l].messages;
    }
  }

  const network& over_;
  const schedules::partition& counts_;
  traffic& into_;
  std::vector<std::uint32_t> way_;  // of the message that is counted
  schedules::layout cut_;
  int rank_ = 0;
  schedules::step_index steps_ = 0;
};

}  // namespace

double traffic::least_time(const network& over) const {
  double least = 0;
  for (std::size_t l = 0; l < links.size(); ++l)
    least = std::max(least, static_cast<double>(links[l].bytes) / over.links[l].capacity);
  return least;
}

traffic traffic_of(const network& over, int ranks, const schedules::partition& counts,
                   const schedules::steps_of_rank& steps, std::uint64_t most) {
  traffic all;
  counted_sends count(over, counts, all);
  for (int rank = 0; rank < ranks; ++rank) {
    if (all.messages > most) {
      all.is_whole = false;
      break;
    }
    count.take(rank);
    steps(rank, count);
  }
  return all;
}

}  // namespace weft::simulator
