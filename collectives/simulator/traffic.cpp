// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <weft/simulator/traffic.hpp>

namespace weft::simulator {
namespace {

std::size_t nth(int node) { return static_cast<std::size_t>(node); }

/// Of each node: how many are above it.
std::vector<int> depths(const network& of) {
  std::vector<int> all;
  for (int node = 0; node < static_cast<int>(of.parent.size()); ++node) {
    int above = 0;
    for (int up = node; of.parent[nth(up)] != -1; up = of.parent[nth(up)]) ++above;
    all.push_back(above);
  }
  return all;
}

/// Counts what one rank after the other sends.
class counted_sends final : public schedules::sink {
 public:
  counted_sends(const network& over, const schedules::partition& counts, traffic& into)
      : over_(over), depth_(depths(over)), counts_(counts), into_(into) {
    into_.up.resize(over.parent.size());
    into_.down.resize(over.parent.size());
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
    int from = over_.node_of[nth(rank_)], to = over_.node_of[nth(peer)];
    while (from != to) {
      const bool climbs = depth_[nth(from)] >= depth_[nth(to)];
      int& end = climbs ? from : to;
      link_traffic& through = (climbs ? into_.up : into_.down)[nth(end)];
      through.bytes += bytes;
      ++through.messages;
      end = over_.parent[nth(end)];
    }
  }

  const network& over_;
  const std::vector<int> depth_;
  const schedules::partition& counts_;
  traffic& into_;
  schedules::layout cut_;
  int rank_ = 0;
  schedules::step_index steps_ = 0;
};

}  // namespace

double traffic::least_time(const network& over) const {
  double least = 0;
  for (std::size_t node = 0; node < up.size(); ++node)
    if (over.parent[node] != -1)
      least = std::max(least, static_cast<double>(std::max(up[node].bytes, down[node].bytes)) / over.capacity[node]);
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
