// SPDX-License-Identifier: Apache-2.0
#include "fair_sharing.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace weft::simulator {

fair_sharing::fair_sharing(const network& links, int ranks, double gap_per_byte, bool ports)
    : network_(links),
      gap_per_byte_(gap_per_byte),
      ports_(ports && gap_per_byte > 0),
      links_(static_cast<std::uint32_t>(2 * links.parent.size())),
      capacity_left_(links_ + (ports_ ? static_cast<std::size_t>(ranks) : 0)),
      unfilled_(capacity_left_.size()) {}

void fair_sharing::begin(flow of, int to, std::uint64_t bytes) {
  const auto node = [&](std::size_t rank) { return network_.node_of[rank]; };
  for (const link& l : path(network_, node(of.rank), node(static_cast<std::size_t>(to))))
    of.links.push_back(static_cast<std::uint32_t>(2 * l.below + (l.up ? 1 : 0)));
  if (ports_) of.links.push_back(links_ + static_cast<std::uint32_t>(to));
  of.remaining = static_cast<double>(bytes);
  of.since = of.start;
  flows_.push_back(std::move(of));
  changed_ = true;
}

void fair_sharing::settle(double now) {
  changed_ = false;
  ++version_;
  fill();
  for (std::size_t i = 0; i < flows_.size(); ++i) set_gap(flows_[i], gaps_[i], now);
}

/// Progressive filling: the link that is full first stops its flows; until none that is full stops any.
void fair_sharing::fill() {
  std::vector<std::uint32_t> used;
  for (const flow& f : flows_)
    for (const std::uint32_t l : f.links)
      if (unfilled_[l]++ == 0) used.push_back(l);
  for (const std::uint32_t l : used) capacity_left_[l] = l < links_ ? network_.capacity[l / 2] : 1 / gap_per_byte_;
  constexpr double open = -1;
  gaps_.assign(flows_.size(), open);
  const auto share = [&](std::uint32_t l) { return capacity_left_[l] / unfilled_[l]; };
  // What is full to within rounding is full: else a port that carries one flow alone would seem slower than the flow.
  constexpr double rounding = 1e-12;
  for (;;) {
    std::uint32_t fullest = links_;
    double least = gap_per_byte_ > 0 ? (1 - rounding) / gap_per_byte_ : std::numeric_limits<double>::infinity();
    bool found = false;
    for (const std::uint32_t l : used)
      if (unfilled_[l] > 0 && share(l) < least) {
        fullest = l;
        least = share(l);
        found = true;
      }
    if (!found) break;
    for (std::size_t i = 0; i < flows_.size(); ++i) {
      const auto& links = flows_[i].links;
      if (gaps_[i] != open || std::find(links.begin(), links.end(), fullest) == links.end()) continue;
      gaps_[i] = 1 / least;
      for (const std::uint32_t l : links) {
        capacity_left_[l] = std::max(0.0, capacity_left_[l] - least);
        --unfilled_[l];
      }
    }
  }
  for (double& gap : gaps_)
    if (gap == open) gap = gap_per_byte_;
  for (const std::uint32_t l : used) unfilled_[l] = 0;
}

void fair_sharing::set_gap(flow& of, double gap, double now) {
  if (of.gap == gap && of.end != std::numeric_limits<double>::infinity()) return;
  if (of.gap > 0) of.remaining = std::max(0.0, of.remaining - (now - of.since) / of.gap);
  of.gap = gap;
  of.since = now;
  of.end = now + of.remaining * gap;
}

double fair_sharing::next_end() const {
  double least = std::numeric_limits<double>::infinity();
  for (const flow& f : flows_) least = std::min(least, f.end);
  return least;
}

std::vector<fair_sharing::flow> fair_sharing::take_ended(double now) {
  const auto first = std::stable_partition(flows_.begin(), flows_.end(), [&](const flow& f) { return f.end > now; });
  std::vector<flow> ended(std::make_move_iterator(first), std::make_move_iterator(flows_.end()));
  flows_.erase(first, flows_.end());
  if (!ended.empty()) changed_ = true;
  return ended;
}

}  // namespace weft::simulator
